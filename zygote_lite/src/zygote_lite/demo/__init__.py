"""The command `zygote-lite` (`cli`), and the network that it trains (`moons`)."""
