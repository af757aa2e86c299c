/**
 * Outbound HTTP of clients and signers.
 *
 * @module
 */
export {};
