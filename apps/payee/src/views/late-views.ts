/**
 * The views that an account does not need to open: one file of the release, which is loaded when the first of them is shown. Several such
 * files would divide what they share with the page, which compresses less.
 *
 * @module
 */
export { ExitView } from './exit.tsx';
export { HistoryView } from './history.tsx';
export { PasskeysView } from './passkeys.tsx';
export { TransferView } from './transfer.tsx';
export { WithdrawView } from './withdraw.tsx';
