"""Diagnosis of a run: why it does not learn, which settings may help, and studies that test them."""
