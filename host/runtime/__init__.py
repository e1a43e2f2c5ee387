"""Chips that are reached: transports, the driver, devices and what is compared."""
