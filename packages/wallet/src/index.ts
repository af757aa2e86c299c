/**
 * A holder's notes and spends over ports, without a module of Node: a browser runs it too.
 *
 * @module
 */
