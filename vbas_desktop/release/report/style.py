"""The look of the HTML reports: calm, light, and the same on paper."""

STYLE = """
:root { --text: #1b2530; --muted: #5c6975; --line: #d5dbe1; --accent: #0f6b8f; --good: #2a7a4b; --bad: #b3261e; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: #f4f6f8; color: var(--text); line-height: 1.55;
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 940px; margin: 0 auto; padding: 0 32px; }
header { padding-top: 40px; }
h1 { font-size: 30px; line-height: 1.2; font-weight: 600; margin: 4px 0 16px; letter-spacing: -0.01em; }
.banner { display: inline-block; margin: 0; padding: 2px 10px; border-radius: 3px; font-size: 13px;
  background: #e3eff4; color: var(--accent); }
.internal .banner { background: #fbe9e7; color: var(--bad); }
nav { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; padding-bottom: 16px; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
section { background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: 20px 28px 24px;
  margin: 0 0 16px; }
h2 { font-size: 18px; font-weight: 600; margin: 0 0 12px; }
p { margin: 0 0 12px; max-width: 46em; }
p:last-child { margin-bottom: 0; }
.quiet { color: var(--muted); font-size: 13.5px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 24px; margin: 4px 0 20px; }
.tiles b { display: block; font-size: 28px; line-height: 1.2; font-weight: 600; color: var(--accent);
  font-variant-numeric: tabular-nums; }
.tiles span { color: var(--muted); font-size: 13.5px; line-height: 1.4; display: block; }
dl { display: grid; grid-template-columns: minmax(150px, 32%) 1fr; gap: 6px 24px; margin: 0 0 12px; }
dt { color: var(--muted); }
dd { margin: 0; }
.scroll { overflow-x: auto; margin: 0 0 16px; }
.scroll:last-child { margin-bottom: 0; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; line-height: 1.4; }
caption { caption-side: bottom; text-align: left; color: var(--muted); padding-top: 8px; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid #e8ecef; vertical-align: top; }
th { font-weight: 500; color: var(--muted); border-bottom-color: #b9c2ca; vertical-align: bottom; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.n { white-space: normal; }
.marked td { font-weight: 650; background: #f0f6f9; }
code { font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; word-break: break-all;
  color: var(--muted); }
pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  background: #f4f6f8; border-radius: 4px; padding: 12px 16px; margin: 0; }
.checks { list-style: none; margin: 0 0 12px; padding: 0; }
.checks li { padding: 3px 0 3px 26px; position: relative; }
.checks i { position: absolute; left: 0; font-style: normal; font-weight: 700; color: var(--good); }
.checks .no i { color: var(--bad); }
figure { margin: 0 0 16px; }
figure:last-child { margin-bottom: 0; }
svg { display: block; width: 100%; height: auto; font-family: inherit; background: #fbfcfd; border-radius: 4px; }
svg text { paint-order: stroke; stroke: #ffffffb0; stroke-width: 2px; }
figcaption { color: var(--muted); font-size: 13.5px; margin-top: 8px; }
footer { color: var(--muted); font-size: 13px; padding-top: 8px; padding-bottom: 48px; }
@media (max-width: 640px) { header, main, footer { padding-left: 12px; padding-right: 12px; }
  section { padding: 16px; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 8px; } }
@media print { @page { margin: 18mm 16mm; } body { background: #fff; font-size: 10pt; } nav { display: none; }
  header, main, footer { max-width: none; padding: 0; } section { border: 0; padding: 0; margin: 0 0 22px; }
  h2 { break-after: avoid; } figure, tr, .tiles, dl, .checks li { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; } }
""".strip()
