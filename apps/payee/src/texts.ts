/**
 * Every text of the page, in English. A translation is another object of the same shape.
 *
 * @module
 */
import type { Readiness } from '@pool/api';
import { errorTexts, otherPool } from './error-texts.ts';
import { exitTexts } from './exit-texts.ts';
import type { Invitation, Progress } from './wallet-port.ts';

const readiness: Readonly<Record<Readiness, { readonly title: string; readonly text: string }>> = {
  ready: { title: 'You can be paid', text: 'Your account is eligible.' },
  eligibility_pending: {
    title: 'Waiting for review',
    text: 'Your account is registered, and its eligibility is being checked. You can close this page and come back.',
  },
  eligibility_failed: {
    title: 'The review did not answer',
    text: 'Your account is registered. The eligibility check could not be reached. Try again.',
  },
  eligibility_disabled: {
    title: 'You cannot be paid here yet',
    text: 'This platform has no eligibility check. Ask the person who invited you.',
  },
  not_enrolled: {
    title: 'Not registered yet',
    text: 'Your account is on this device only. Register it, so that you can be paid.',
  },
};

const invitationStates: Readonly<Record<Exclude<Invitation['state'], 'open'>, string>> = {
  accepted:
    'This invitation was used. If you used it, open or restore your account below. If you did not, tell the person who sent it.',
  expired: 'This invitation has expired. Ask the person who sent it for a new one.',
  revoked: 'This invitation was withdrawn. Ask the person who sent it.',
};

const stages: Readonly<Record<Progress['stage'], string>> = {
  syncing: 'Reading the chain',
  checking: 'Checking',
  signing: 'Signing',
  proving: 'Making the proof on this device',
  settling: 'Waiting for the chain',
};

export const texts = {
  title: 'Pool',
  skipToContent: 'Skip to the content',
  loading: 'Loading',
  back: 'Back',
  next: 'Continue',
  cancel: 'Cancel',
  token: 'Token',

  welcome: {
    title: 'Your private account',
    noInvitation:
      'An employer who pays you with Pool sends you a link. Open the link to make an account. If you have an account, restore it from its words.',
    restore: 'Restore an account from its words',
  },
  invitation: {
    title: (employer: string | undefined) =>
      employer === undefined ? 'You are invited' : `${employer} invites you`,
    from: 'From',
    unnamed: 'An employer without a name here',
    employer: 'Wallet of the employer',
    platform: 'Platform',
    chain: 'Chain',
    pool: 'Pool contract',
    until: 'Valid until',
    youSee: 'What you see',
    youSeeList: ['Your payslips, your balance, and who paid you.', 'Nothing of your colleagues.'],
    theySee: 'What others see',
    theySeeList: [
      'Your employer knows what it pays you. It does not see what you do with the money.',
      'The platform sees that you have an account, and when you use it. It sees no amounts.',
      'The public chain shows neither you nor your salary, until you withdraw: a withdrawal shows its amount, its address and its time.',
    ],
    youKeep: 'What only you have',
    youKeepList: [
      'The keys. They are made on this device and never leave it.',
      'If you lose the passkey and the words, nobody can give the money back.',
      'The platform serves this page: you trust it to serve the right one.',
    ],
    /** Two employers of one account. */
    payersSee:
      'Each of your employers knows the address of this account. If they compare, they see that they pay the same person. Neither learns from it what the other pays.',
    account: 'Your account',
    accept: 'Make my account',
    acceptWith: 'Accept with this account',
    toAccount: 'Go to my account',
    again: 'Read the invitation again',
    states: invitationStates,
    acceptedWith:
      'This invitation was used. If you accepted it with this account, there is nothing more to do. If you did not, tell the person who sent it.',
    problems: {
      not_found:
        'This link is not an invitation of this platform, or was replaced by a newer one. Check that you copied all of it, or ask the person who sent it for a new one.',
      'invalid-chain':
        'This invitation is for another pool than that of your account here, so nothing was accepted. Ask the person who sent it where to open the link.',
      invitation_taken:
        'Nothing was accepted. Another account has used this invitation, or this account has accepted another one of the same employer. Tell the person who sent it, and ask for a new one if it was not you.',
    } as Readonly<Record<string, string>>,
  },
  account: {
    wordsTitle: 'Write down these 24 words',
    wordsText:
      'They are your account. Whoever reads them can take the money. Write them on paper, in order, and keep the paper where you keep your passport. Do not photograph them, and type them nowhere but here.',
    words: 'Your recovery words',
    wordsDone: 'I have written them down',
    trialTitle: 'Try your words',
    trialText: 'Look at your paper, not at a copy, and type these three words.',
    trialWord: (number: number) => `Word ${number}`,
    trialWrong: (numbers: readonly number[]) =>
      `${numbers.length === 1 ? 'Word' : 'Words'} ${numbers.join(' and ')} ${numbers.length === 1 ? 'is' : 'are'} not right. Look at your paper again, or go back to see the words.`,
    showAgain: 'Show the words again',
    passkeyTitle: 'Make a passkey',
    passkeyText:
      'A passkey opens your account with your fingerprint, your face or the code of your device. It works on this site only: another page that looks the same gets nothing.',
    makePasskey: 'Make a passkey',
    cancelled: 'No passkey was made. Try again when you are ready.',
    noPrfTitle: 'This device cannot keep your account',
    noPrfText:
      'The passkey was made, but it cannot protect a key: this browser or device has no PRF. Choose another place for the passkey, such as your phone or a security key. Or go on without one: then you type your 24 words each time you open the account.',
    secondCopy:
      'I have the words on two papers, which I keep in different places. Without a passkey they are the only way to my money.',
    otherPasskey: 'Use another device for the passkey',
    withoutPasskey: 'Go on with the words alone',
    making: 'Storing your account on this device',
  },
  restore: {
    title: 'Restore your account',
    text: 'Type or paste your 24 words in their order. They stay on this device.',
    words: 'Recovery words',
    count: (count: number) => `${count} of 24 words`,
    submit: 'Restore',
    file: 'Or choose the account file of another browser, and use its passkey',
  },
  passkeys: {
    title: 'Ways to open your account',
    link: 'Ways to open your account',
    text: 'Your 24 words always open it. Each passkey below opens it too, in a browser that has the account file.',
    none: 'This browser does not keep the account: it opens with the words alone. Lock it, restore it from the words and make a passkey to keep it here.',
    madeOn: (date: string) => `Made on ${date}`,
    remove: (label: string) => `Remove ${label}`,
    addTitle: 'Add a passkey',
    addText:
      'Of another device, so that one lost device does not cost you the account. You are asked three times: for a passkey that opens the account now, to make the new one, and to try it.',
    label: 'Name of the passkey, for example “security key”',
    add: 'Add a passkey',
    outcomes: {
      added: 'The passkey opens your account.',
      'no-prf':
        'This passkey cannot protect a key: its device or the browser has no PRF. Choose another device.',
      cancelled: 'No passkey was added.',
      'already-registered': 'This device has a passkey of your account. Choose another device.',
    },
    fileTitle: 'The account file',
    fileText:
      'With this file and a passkey, another browser on this site opens your account. The file alone opens nothing. A passkey that you remove still opens older copies.',
    fileName: 'pool-account.json',
    download: 'Download the account file',
  },
  backup: {
    title: 'A file with a password',
    text: 'The file and its password open your account in any browser on this site, and in an agent. Whoever has both can take the money. Nobody can reset the password.',
    triedOn: (date: string) => `A file opened your account on ${date}.`,
    newPassword: 'New password',
    again: 'The same password again',
    strength:
      'At least 16 characters, for example five words that do not belong together. Use it nowhere else.',
    problems: {
      'too-short': 'The password is too short. Use at least 16 characters.',
      'too-plain': 'The password repeats few characters. Use at least 8 different ones.',
      'not-repeated': 'The two passwords differ. Type the same one twice.',
    },
    make: 'Make the file',
    fileName: 'pool-account.age',
    made: 'Now try it: choose the file that you have just saved',
    choose: 'The file that opens your account with a password',
    password: 'Its password',
    try: 'Try the file',
    open: 'Open the file',
    tried: 'The file opens your account. Keep the file and its password in different places.',
    failures: {
      account_not_opened:
        'This password does not open this file, or the file is damaged or of another account. Type the password again, or choose another copy.',
      invalid_account_file:
        'This file has no account. A backup of an agent does not have the key of its wallet.',
    } as Readonly<Record<string, string>>,
  },
  locked: {
    title: 'Your account is locked',
    text: 'Open it with your passkey.',
    unlock: 'Open with my passkey',
    other: 'Use my words',
    lock: 'Lock',
    invited: 'Then you see the invitation that you opened.',
    autoLocked: 'It was locked because you did not use it for a while.',
  },
  readiness,
  enrol: 'Register my account',
  checkAgain: 'Check again',

  nav: {
    label: 'Account',
    home: 'Account',
    withdraw: 'Withdraw',
    transfer: 'Pay',
    history: 'History',
  },
  home: {
    balance: 'Balance',
    spendable: (amount: string) => `${amount} can be spent now`,
    asOf: (block: number) => `As of block ${block}`,
    payslips: 'Payslips',
    noPayslips: 'No payslip yet. It appears here minutes after you are paid.',
    from: (payer: string) => `From ${payer}`,
    unknownPayer: 'Somebody inside the pool, or not known to this device',
    total: (amount: string) => `Together ${amount}`,
    refresh: 'Read the chain again',
    inviters: 'Who invited you',
    invitersText:
      'Invitations that you accepted in this browser. Each employer gave its name itself, and nobody checked it.',
    inviter: (date: string) => `Accepted on ${date}`,
    address: 'Your wallet',
    walletPub: 'To be paid by a colleague, give them this key',
  },
  payslip: {
    title: 'Payslip',
    print: 'Print',
    amount: 'Amount',
    from: 'From',
    memo: 'Text',
    received: 'Received',
    transaction: 'Transaction',
    to: 'To wallet',
    note: 'Made by the payee’s own page from the notes on the chain.',
    proofTitle: 'For a bank or an authority',
    proofText:
      'The file proves this payment to whoever has it, for 90 days: its amount, and that you received it. It shows nothing of other payments. They verify it on the page audit.html.',
    purpose: 'What for',
    proof: 'Download the proof',
    proofName: (date: string) => `payslip-${date}.json`,
  },
  amount: {
    label: (symbol: string) => `Amount in ${symbol}`,
    all: (amount: string) => `You can spend ${amount} now.`,
    held: (amount: string) =>
      `A payment that is underway holds ${amount} more. If you repeat that payment, it continues.`,
    'too-much': (total: string) => `Your account holds ${total}. Enter less.`,
    'too-many-decimals': (symbol: string, decimals: number) =>
      `${symbol} has ${decimals} decimals. Write fewer digits after the point.`,
    'not-an-amount': 'This is not an amount above zero. Write digits, for example 1234.50.',
    unclear: 'This can be read in more than one way. Choose what you mean:',
    missing: 'Enter an amount.',
  },
  withdraw: {
    title: 'Withdraw',
    own: 'To your own wallet',
    other: 'To another address',
    saved: 'Addresses you used before',
    where: 'Where to',
    browserWallet: {
      find: 'Take the address from a wallet in this browser',
      none: 'No extension of this browser offers a wallet. Enter the address by hand.',
      asks: 'The wallet signs that it has the key of its address. That moves no money, and does not tell it which account is yours.',
      why: 'Such a wallet cannot be your account here: payments inside the pool are signed over a digest that must stay secret, and a wallet shows what it signs to its own servers.',
      problems: {
        refused: 'The wallet did not answer, or was told not to. Unlock it and try again.',
        'not-signed':
          'The wallet did not sign with the key of its address, as the wallet of a contract does not. Enter the address by hand.',
      },
      name: (wallet: string) => `the wallet ${wallet}, which signed just now`,
    },
    address: 'Address',
    ownName: 'your own wallet',
    usedName: 'an address you used before',
    missing: 'Enter an address.',
    problems: {
      'foreign-characters':
        'This text has characters that no address has, perhaps letters that only look right. Copy the address again from its owner.',
      'wallet-public-key':
        'This is a wallet key, for payments inside the pool. Use “Pay”, or enter an address.',
      'wrong-checksum':
        'The checksum is wrong: at least one character is another one. Copy the address again from its owner.',
      'wrong-length': 'An address has 42 characters. Copy all of it.',
      'not-an-address': 'This is not an address. An address begins with 0x.',
      'pool-contract': 'This is a contract of the pool. Money sent to it is lost.',
    },
    warnings: {
      'no-checksum':
        'Without capital letters, a typing error in the address is not noticed. Compare every character.',
      'looks-like': (name: string, known: string) =>
        `It begins and ends like ${name} (${known}), but is another address. Attackers make such addresses. Compare every character.`,
      'new-address': 'You have never withdrawn to this address. Compare it with its owner’s.',
    },
    public: 'What becomes public',
    publicList: (amount: string, address: string) => [
      `The chain shows for good that ${amount} went to ${address}, and when.`,
      'It does not show that the money was yours, or which payslip it is from.',
    ],
    linkTitle: 'This can be linked to your payslip',
    links: {
      'equal-amount': (date: string) =>
        `The amount is that of your payslip of ${date}. Who knows your salary recognises it.`,
      'equal-sum': (count: number) =>
        `The amount is the sum of your last ${count} payslips. Who knows your salary can add them up.`,
      'same-day': (time: string) =>
        `You were paid within the last day. Few withdraw then: wait until after ${time}.`,
    },
    suggestion: (amount: string) => `Withdraw ${amount} instead`,
    suggestionText: 'Many people withdraw round amounts. The rest stays in your account.',
    review: 'Review',
    reviewTitle: 'Check before you send',
    amountLine: 'Amount',
    toLine: 'To',
    feeLine: 'Fee',
    noFee: 'None: the platform pays the network',
    restLine: 'Stays in the pool',
    final: 'A withdrawal cannot be undone.',
    send: 'Withdraw now',
    doneTitle: 'Sent',
    done: (amount: string) => `${amount} left the pool.`,
    reverted: 'The chain refused the withdrawal. Nothing moved. You can try again.',
  },
  exit: exitTexts,
  transfer: {
    title: 'Pay inside the pool',
    text: 'The chain shows neither you, nor the payee, nor the amount.',
    to: 'To',
    choose: 'Choose a contact',
    none: 'You have no contacts yet. Add one below.',
    missing: 'Choose whom to pay.',
    add: 'Add a contact',
    label: 'Name, for you only',
    walletPub: 'Their wallet key (begins with 0x02 or 0x03)',
    save: 'Save the contact',
    send: 'Pay now',
    done: (amount: string, label: string) => `${label} has ${amount}.`,
    reverted: 'The chain refused the payment. Nothing moved. You can try again.',
  },
  earlier: {
    settled: (time: string) => `An equal payment was made on ${time}. This would be another one.`,
    underway: (time: string) => `This continues the payment of ${time}.`,
  },
  history: {
    title: 'History',
    empty: 'Nothing has happened yet.',
    csv: 'Download as CSV',
    csvName: (symbol: string) => `pool-history-${symbol}.csv`,
    columns: { time: 'Time', what: 'What', amount: 'Amount', details: 'Details' },
    kinds: {
      received: 'Received',
      change: 'Change',
      send: 'Withdrawn',
      transfer: 'Paid',
      merge: 'Merged notes',
    },
    to: (name: string) => `to ${name}`,
    unknownAmount: 'unknown',
    missingNote: 'amount unknown: a note that was used up is missing on this device',
  },
  progress: {
    stages,
    secondsLeft: (seconds: number) =>
      seconds < 90
        ? `About ${seconds} seconds left`
        : `About ${Math.round(seconds / 60)} minutes left`,
    mayLeave: 'You may leave this page. It goes on where it was when you come back.',
    keepOpen:
      'Keep this page open. If you leave before it was sent, nothing is paid; look at the history when you come back.',
  },
  release: {
    title: 'The server has another version of this page',
    text: 'This browser goes on with the version that it has until you change it. Compare the digest with the published one first, if you can.',
    earlier:
      'This browser had that version before, so it is perhaps an older one. Change to it only if you know why.',
    accept: 'Change the version and reload',
    later: 'Not now',
    active: (digest: string) => `Version ${digest}`,
    about:
      'The SHA-256 digest of the list of all files of this page. Whoever builds the same source gets the same digest. This browser keeps the version, and asks you before it runs another one.',
  },

  errors: errorTexts,
  otherPool,
  unknownError: (code: string) =>
    `Something went wrong (${code}). Try again. If it stays, tell your employer this code.`,
} as const;
