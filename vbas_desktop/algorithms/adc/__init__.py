"""ADC (anonymity-driven clustering) by differences. It begins with `search`; the others keep and judge its state."""
