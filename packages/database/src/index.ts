/**
 * The database of a service: PostgreSQL, or embedded in a folder. One process uses it at a time (docs/decisions/0010).
 *
 * @module
 */
