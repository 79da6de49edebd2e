"""How well published networks are found again from rows drawn of them."""
