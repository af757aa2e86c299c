/**
 * The relayer: it checks and stores settlements and spends, sends them to the pools, and indexes what the pools hold.
 *
 * @module
 */
