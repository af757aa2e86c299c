/**
 * The texts of a platform that is silent, and of withdrawals without it.
 *
 * @module
 */
import type { ImportedNotes } from './wallet-port.ts';

export const exitTexts = {
  silent: 'The platform does not answer',
  silentSince: (time: string) =>
    `What you see is from this device and the chain. Payments that were sent to you after ${time} are missing, or their amounts are.`,
  neverHeard:
    'It has never answered in this browser. What you see is from the chain alone, and most payments are missing. Add the notes file of another browser.',
  title: 'Withdraw without the platform',
  intro:
    'Your money does not need the platform. If it is gone, or refuses you, this page sends the withdrawal to the chain itself.',
  lists: [
    {
      title: 'What it costs',
      lines: [
        'The network takes a fee, in the coin of the chain. An account that follows from your 24 words, and is not your wallet, pays it. You send some coin to it before: the page shows its address, and how much it needs.',
        'What is left there can be sent on after the withdrawal, to the address that got it. That takes a small fee again.',
      ],
    },
    {
      title: 'What becomes public',
      lines: [
        'The amount, the address that gets it and the time, as with each withdrawal.',
        'The account that pays the fee, and where its coin came from: if that is known to be yours, so is the withdrawal. Everybody sees that your withdrawals of this kind are of one person.',
      ],
    },
    {
      title: 'What it needs',
      lines: [
        'A node of the chain, which this page asks.',
        'Your notes in this browser. Another browser finds only what the chain has of you, and needs the notes file for the rest.',
        'The files that make proofs, about 30 MB, from the server of this page or kept in this browser.',
      ],
    },
  ],
  notesTitle: 'Your notes in a file',
  notesText:
    'Payments by employers are not on the chain: the platform has them, and this browser. With this file and your 24 words, another browser withdraws without the platform. Make a new file after you are paid. It shows which payments are yours.',
  notesName: 'pool-notes.json',
  notesDownload: 'Download the notes file',
  notesAdd: 'Add the notes file of another browser',
  notesAdded: ({ added, known, others }: ImportedNotes) =>
    `Notes added: ${added}. Here before: ${known}. Not usable: ${others}.`,
  keep: 'Keep the files in this browser',
  kept: 'The files are in this browser.',
  notKept:
    'The files were not kept. Check your connection and the room on this device, and reload.',
  begin: 'Go on without the platform',
  restTitle: 'Coin that is left',
  rest: (coin: string) => `The account that paid the fee has ${coin}.`,
  restTooSmall: 'To send it on would cost more.',
  restText:
    'It can be sent on to this address, less the fee and a small rest. Everybody sees where it came from.',
  restSend: (coin: string) => `Send about ${coin} on`,
  restSent: 'It arrives with the next blocks:',
  toWithdrawal: 'Go to the withdrawal',
  left: 'This page does not ask the platform now. To use it again, lock the account and open it.',
  noTransfers: 'Nobody can be paid inside the pool without the platform. Withdraw instead.',
  payer: 'The fee is paid by',
  payerHas: 'It has',
  fee: (coin: string) => `About ${coin}`,
  coin: 'coin of the chain',
  unfunded: (missing: string) =>
    `The account that pays the fee has too little. Send ${missing} to it, then check again.`,
  tooDear: 'The chain asks for an unusual fee now, so nothing would be sent. Try again later.',
  publicLine: 'It also shows for good which account paid the fee.',
} as const;
