/** The gate as a library, for programs that start it themselves. */
export { openGate, runApproveCli, runGate } from '@pool/approve';
