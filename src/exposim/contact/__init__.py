"""Contacts: what surfaces are made of, where they are, what touches them."""
