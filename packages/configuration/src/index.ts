/**
 * Variables of a service: kinds, layers and readings. All problems are reported at once, by name and never by value.
 *
 * @module
 */
