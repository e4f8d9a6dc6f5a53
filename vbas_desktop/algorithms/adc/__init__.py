"""ADC (anonymity-driven clustering) by differences. Its door is `search`; the others keep and judge its state."""
