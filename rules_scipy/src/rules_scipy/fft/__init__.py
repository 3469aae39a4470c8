"""Rules for `scipy.fft`: the pullback of a transform is the adjoint transform."""
