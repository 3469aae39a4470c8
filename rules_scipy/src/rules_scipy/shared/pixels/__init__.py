"""What the rules of images share: `boundaries` has the modes, `splines` the bases."""
