// The agent's routes of a holder: balance, transfer, send.
import { section, shown } from '../statement.ts';
import {
  agentFuzz,
  agentSpends,
  balanceCommand,
  balanceRoute,
  balanceStack,
  edgeRoutes,
  hiddenChange,
  holderSync,
  spendChecks,
  spendCommand,
  spendCrashes,
  spending,
  spendKeys,
  spendLanding,
  spendOnChain,
  spendRoutes,
  spendStack,
  spendStackCrashes,
} from '../test-files.ts';

const balanceLine = 'is printed by the command as one line, and quiet in a pipe';

export const holderRoutes = section('Balance, transfer, send', [
  [
    'balance.route',
    '`GET /api/balance?token=` answers the amount that the holder can spend, and moves nothing.',
    shown(
      balanceStack('is what the holder was paid, in whichever batch'),
      hiddenChange('a withdrawal of %s leaves the balance complete and spendable'),
      balanceRoute(
        'answers total, symbol, notes, largest note and chain, amounts as decimal strings',
      ),
    ),
  ],
  [
    'transfer.route',
    '`POST /api/transfer` moves value to holders inside the pool.',
    shown(
      spendRoutes('POST /api/%s > answers the receipt on the same connection'),
      spending('a transfer > pays each payee, returns the change, and answers the receipt'),
      spendStack('transfers to two holders in one spend, and one key is one spend'),
      spendOnChain('transfers, and is read back by nullifier, outRoot and transaction'),
    ),
  ],
  [
    'transfer.listed-only',
    'A transfer can pay any W on the eligibility list, and no other.',
    shown(
      spendChecks('to a wallet that is %s is refused', 'a transfer > with %s is refused'),
      spending('proves under the newest final note root and the current eligibility root'),
    ),
  ],
  [
    'transfer.body',
    'A transfer has token, recipients of walletPub and amount, and optionally dryRun.',
    shown(
      spendChecks('that passes names payees, keys and evidence', 'a transfer > with %s is refused'),
      agentFuzz('answers any request with %s as documented'),
    ),
  ],
  [
    'send.route',
    '`POST /api/send` withdraws value out of the pool.',
    shown(
      spendRoutes('POST /api/%s > answers the receipt on the same connection'),
      spendStack('withdraws to a pinned label, and the token arrives there'),
      spendOnChain('withdraws to a pinned destination'),
    ),
  ],
  [
    'send.body',
    'A send has token, amount, optionally `to`, and optionally dryRun.',
    shown(
      spending('withdraws to %s with eligibility root 0, without asking the gate'),
      agentFuzz('answers any request with %s as documented'),
    ),
  ],
  [
    'send.own-wallet',
    'Without `to` the withdrawal goes to the holder’s own wallet.',
    shown(
      spending('withdraws to %s with eligibility root 0, without asking the gate'),
      agentSpends(
        'take destinations from DISBURSE_SEND_DESTINATIONS, and without it only the own wallet',
      ),
    ),
  ],
  [
    'send.label-only',
    '`to` is a pinned label; an address is refused, even a pinned one.',
    shown(
      spendChecks('a send > to %s is refused, and the labels are listed'),
      agentSpends(
        'take destinations from DISBURSE_SEND_DESTINATIONS, and without it only the own wallet',
      ),
    ),
  ],
  [
    'send.one-destination',
    'A send has exactly one destination.',
    shown(
      spendChecks('takes no list of recipients'),
      spendCommand('the command line > refuses %j'),
    ),
  ],
  [
    'spend.no-chain',
    'A spend accepts no chain: it uses the holder’s own.',
    shown(
      spendRoutes('accepts no chain, in the body or from a caller without the loopback token'),
      agentSpends('use the chain of the holder, or one of the agent’s own that is asked for'),
    ),
  ],
  [
    'spend.dry-run',
    'A dry run makes the whole proof and submits nothing.',
    shown(spending('proves everything, never asks the signer, and leaves nothing behind')),
  ],
  [
    'spend.synchronous',
    'A spend answers its receipt with 200 on the same connection.',
    shown(spendRoutes('answers the receipt on the same connection')),
  ],
  [
    'spend.idempotency-key',
    'A spend requires an Idempotency-Key.',
    shown(spendRoutes('requires an Idempotency-Key')),
  ],
  [
    'spend.retry-attaches',
    'A retry under the same key attaches to the spend underway.',
    shown(spendKeys('that is underway reads the same outcome')),
  ],
  [
    'spend.other-body',
    'The key with another body answers 409.',
    shown(spendKeys('with another body or operation is a conflict %s')),
  ],
  [
    'spend.memory-per-process',
    'The memory of keys ends with the process.',
    shown(
      spendKeys('is forgotten when the process ends, and a retry pays again from different notes'),
      spendCrashes('at %s pays once with a durable journal'),
      spendStackCrashes(
        'at $point pays once when the same request comes again, with the journal on',
      ),
    ),
  ],
  [
    'receipt.fields',
    'A receipt has operation, status, txHash, nullifiers and changeAmount.',
    shown(spending('a transfer > pays each payee, returns the change, and answers the receipt')),
  ],
  [
    'receipt.reverted',
    'The receipt of a reverted spend has its txHash and the reason.',
    shown(
      spendLanding('that reverts and expires answers a reverted receipt with the reason'),
      spendRoutes('answers 422 with the whole receipt if the spend reverted'),
    ),
  ],
  [
    'balance.line',
    'The command prints total, symbol, count of notes, largest note and chain in one line.',
    shown(
      balanceStack(balanceLine),
      balanceCommand(
        'prints total, symbol, number of notes, the largest and the chain in one line',
      ),
    ),
  ],
  [
    'balance.total',
    'The total is of the notes this holder can decrypt, in base units.',
    shown(
      holderSync('sums the holder’s own notes over all batches and pages'),
      balanceStack('is what the holder was paid, in whichever batch'),
    ),
  ],
  [
    'balance.note-count',
    'The count of notes is that of the inputs which a spend of everything proves over.',
    shown(
      holderSync('counts no note that a final spend used up, and counts its change'),
      hiddenChange('a withdrawal of %s leaves the balance complete and spendable'),
    ),
  ],
  [
    'balance.largest-note',
    'The largest note bounds a spend that consolidates nothing first.',
    shown(holderSync('counts only the larger of two notes with one nullifier')),
  ],
  [
    'balance.served-by-p',
    'The platform serves a holder the notes sealed to its registered P, and no others.',
    shown(
      edgeRoutes(
        'serves a holder only its own notes, once the batch is final',
        'serves only notes of the registered key: notes from before a rotation are not served',
      ),
    ),
  ],
  [
    'balance.other-p',
    'A holder with another P than the enrolled sees an empty balance.',
    shown(balanceStack('is empty for a viewing key whose P is not enrolled')),
  ],
]);
