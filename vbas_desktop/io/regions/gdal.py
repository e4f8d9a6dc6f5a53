"""What the library that reads geometry may open: three formats, local files, nothing else.

GDAL knows some 180 formats. Many of them name other files or addresses, which it would open: a text that is called
GeoJSON could have it fetch a page or read a file of the user's. Its settings are read from the environment when it is
loaded, so they are made when the package is imported, before anything can load it.
"""

from __future__ import annotations

import os

DRIVERS = ("ESRI Shapefile", "GPKG", "GeoJSON")
"""The formats that are left."""

_OTHER_DRIVERS = """
    AAIGrid ACE2 ADBC ADRG AIG AirSAR AIVector AmigoCloud AVCBin AVCE00 BMP BSB BT BYN CALS Carto CEOS COASP COG
    COSAR CPG CSV CSW CTG DAAS DERIVED DGN DIMAP DOQ1 DOQ2 DTED DXF ECRGTOC EDIGEO EEDA EEDAI EHdr EIR Elasticsearch
    ENVI ERS ESAT ESRIC ESRIJSON FAST FlatGeobuf GDALG GenBin GeoJSONSeq GeoRSS GFF GML GNMDatabase GNMFile GPSBabel
    GPX GRASSASCIIGrid GRIB GS7BG GSAG GSBG GSC GTFS GTI GTiff GTX GXF HF2 HFA HTTP Idrisi ILWIS IRIS ISCE ISG ISIS2
    ISIS3 JAXAPALSAR JDEM JML JPEG JSONFG KML KMLSUPEROVERLAY KRO L1B LAN LCP Leveller LIBERTIFF LIBKML LOSLAS LVBAG
    MAP MapML MBTiles MEM MFF MFF2 MiraMonRaster MiraMonVector MRF MSGN MVT NDF NGSGEOID NGW NITF NOAA_B NSIDCbin
    NTv2 NWT_GRC NWT_GRD OAPIF ODS OGCAPI OGR_GMT OGR_PDS OGR_VRT OpenFileGDB OSM PAux PCIDSK PCRaster PDF PDS PDS4
    PGDUMP PLMOSAIC PLSCENES PMTiles PNG PNM PRF RCM RIK RMF ROI_PAC RPFTOC RRASTER RS2 RST S57 SAFE SAGA SAR_CEOS
    Selafin SENTINEL2 SIGDEM SNAP_TIFF SNODAS SQLite SRP SRTMHGT STACIT STACTA SXF Terragen TGA TIL TopoJSON TSX
    USGSDEM VDV VFK VICAR VRT WAsP WCS WFS WMS WMTS XLSX XYZ Zarr ZMap
"""

_SETTINGS = {
    "GDAL_DRIVER_PATH": "disable",
    "OGR_DRIVER_PATH": "disable",
    "OGR_SQLITE_ALLOW_EXTERNAL_ACCESS": "NO",
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",
    "CPL_CURL_ENABLE_VSIMEM": "NO",
    "PROJ_NETWORK": "OFF",
    # What it says while it is loaded, such as that another version does not have one of the formats, is for nobody.
    "CPL_LOG": os.devnull,
}
_UNWANTED = ("OGR_SQLITE_LOAD_EXTENSIONS", "OGR_SQLITE_PRAGMA", "GDAL_CONFIG_FILE")


def restrict_gdal() -> None:
    """Leave only the formats that are read and written, without extensions, archives and addresses."""
    os.environ.update({"GDAL_SKIP": ",".join([*_OTHER_DRIVERS.split(), "MapInfo File"]), **_SETTINGS})
    for name in _UNWANTED:
        os.environ.pop(name, None)
