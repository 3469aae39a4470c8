"""Typed code as Python text: statements (`writer`), `lines` and expressions (`spell`)."""
