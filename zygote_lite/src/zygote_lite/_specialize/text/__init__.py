"""Typed code as Python text: statements (`writer`) and expressions (`spell`)."""
