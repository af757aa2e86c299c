/**
 * What checks the signature of a browser's wallet: of its own, so that a page loads it only then.
 *
 * @module
 */
export { hexlify, verifyTypedData } from 'ethers';
