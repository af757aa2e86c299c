/** Sends transactions of one key on an EVM chain. @module */
