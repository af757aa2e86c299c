/**
 * Every text of the auditor's page, in English.
 *
 * @module
 */
import type { DisclosureGap } from '@pool/notes';
import type { AuditField } from './read-input.ts';

/** Why something is not proved. What was found, then what to do. */
const gaps: Readonly<Record<DisclosureGap, string>> = {
  malformed:
    'This is not a disclosure of version 1, or it contradicts itself. Ask for the file again.',
  'foreign-chain': 'The file is of another chain than the RPC.',
  'foreign-pool':
    'The file is of another pool contract than the one that you entered. Compare both with the address that was published.',
  'other-challenge':
    'The file does not have the challenge that you entered. It was made for somebody else, or for nobody.',
  'challenge-not-given':
    'The file was made for a challenge. Enter the text that you gave; if you gave none, it was made for somebody else.',
  'not-yet-valid': 'The file is dated in the future. Check the clock of this device.',
  expired: 'The file has expired. Ask for a new one.',
  'signature-rejected':
    'The file was changed after it was signed, or another key signed it. Nothing in it can be trusted.',
  'not-on-chain':
    'The pool has no such payment in a final block. A new payment is final after some minutes.',
  'other-transaction': 'The pool has this payment in another transaction.',
  change: 'This is the change of a spend, and not a payment.',
  'other-commitment': 'The note is not in the pool: the pool has another note in its place.',
  'wrong-opening':
    'Amount, token or payee are not those of the note in the pool: the file shows false values.',
  'not-a-party': 'Who signed the file is not a party of this payment.',
  'not-disclosed': 'The file does not show it.',
  'wrong-payer': 'The payer in the file is not the one of the pool.',
  'sealed-notes-mismatch': 'Sealed notes are missing, or are not those of the pool.',
  'wrong-memo': 'The text is not the one in the sealed note.',
  'key-not-confirmed':
    'No sign-in text of the platform that you named binds the encryption key to this wallet.',
};

/** By code of the error. */
const errors: Readonly<Record<string, string>> = {
  wrong_chain:
    'The RPC serves another chain than the file names. Enter an RPC of the chain of the file.',
  chain_unreachable:
    'The RPC does not answer, does not let pages ask it (CORS), or does not know final blocks. Try again, or use another RPC.',
  nodes_disagree:
    'The two RPCs answer different things. One of them lies or is broken. Nothing was verified: ask a third one.',
};

const fieldProblems: Readonly<Record<AuditField, string>> = {
  rpcUrl: 'Enter an address that begins with https://, or one of this device.',
  secondRpcUrl: 'Enter another address that begins with https://, or leave this empty.',
  pool: 'Enter the address of the pool contract: 0x and 40 characters.',
  challenge: '',
  platform: 'Enter an address such as https://pool.example, or leave this empty.',
};

export const auditTexts = {
  title: 'Verify a payslip',
  intro:
    'This page compares a disclosure file with the chain. The file stays on this device. The page asks only the RPCs that you name; they see which transactions you ask for.',
  file: 'Disclosure file',
  fileHint: 'Choose the file, or drop it on this page.',
  chosen: 'File:',
  tooLarge: 'The file is larger than 64 MB. No disclosure is.',
  unreadable: 'The file cannot be read. Choose it again.',
  missing: 'Choose a file first.',
  fields: {
    rpcUrl: {
      label: 'RPC of the chain',
      hint: 'Of a node that you trust. What it answers is what the file is compared with.',
    },
    secondRpcUrl: {
      label: 'Second RPC (optional)',
      hint: 'Of somebody else. What only one of them says is refused.',
    },
    pool: {
      label: 'Pool contract',
      hint: 'From a published source, and not from who gave you the file: anybody can make a pool of their own.',
    },
    challenge: {
      label: 'Challenge (optional)',
      hint: 'The text that you gave to who made the file.',
    },
    platform: {
      label: 'Platform (optional)',
      hint: 'Its sign-in address. A file of a payer needs it to show who received.',
    },
  },
  fieldProblems,
  verify: 'Verify',
  working: 'Asking the chain',
  again: 'Verify another file',
  results: {
    proved: 'Every payment in this file is proved',
    partly: 'Not every payment in this file is proved',
    nothing: 'Nothing is proved',
  },
  facts: {
    title: 'The file',
    name: 'File',
    signer: 'Signed by',
    roles: { payer: 'the payer', payee: 'the payee' },
    purpose: 'For',
    issued: 'Issued',
    expires: 'Proves nothing after',
    pool: 'Pool contract',
    rpcs: 'Compared with',
    rpcCount: (count: number) => (count === 1 ? 'one RPC' : `${count} RPCs, which agree`),
    sum: 'Proved together',
  },
  payment: {
    title: (number: number, count: number) => `Payment ${number} of ${count}`,
    amount: 'Amount',
    baseUnits: (amount: bigint) => `${amount} base units`,
    token: 'Token',
    memo: 'Text',
    noMemo: 'No text',
    date: 'Date',
    payer: 'Who paid',
    payee: 'Who received',
    transaction: 'Transaction',
    notProved: 'Not proved.',
  },
  unchecked: {
    title: 'What was not checked',
    always: [
      'Whether these are all payments: who makes a file chooses what it shows.',
      'Who the people behind the addresses are.',
      'Whether the money was spent since.',
      'Whether a text is true.',
      'Whether the pool contract is the right one: you entered it.',
    ],
    oneNode: 'Whether the RPC tells the truth: no second one was asked.',
    payer: 'Who paid: the file does not show it.',
    memo: 'Texts that the file does not show.',
    platform: 'Who received: no platform was named.',
    challenge:
      'Whether the file was made for you: you named no challenge. Anybody who has the file can show it.',
  },
  gaps,
  errors,
  unknownError: (code: string) => `Something went wrong (${code}). Nothing was verified.`,
} as const;
