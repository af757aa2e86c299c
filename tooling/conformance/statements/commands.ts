// The commands of `disburse-agent`.
import { section, shown } from '../statement.ts';
import {
  agentSpends,
  balanceStack,
  consolidateCommand,
  custodianOnboarding,
  exitCodesOfErrors,
  gateCrashes,
  gateVotes,
  identityCommand,
  identityProcess,
  notesCommand,
  onboardedHolder,
  onboarding,
  payRunCommand,
  redelivered,
  sandbox,
  selfSubmitted,
  spendChecks,
  spendCommand,
  spendCrashes,
  spending,
  spendKeys,
  spendRecipients,
  spendStack,
  watchCommand,
} from '../test-files.ts';

const wholePass =
  'signs in as the holder with its P, enrols, mints, and writes a complete file of mode 0600';
const realPass = 'enrols the holder in its own session, and writes credentials that work';
const refusals = 'onboard refuses, before it sends or writes anything, > %s';

export const commands = section('Commands of the agent', [
  [
    'command.identity',
    '`identity` prints the holder’s identity, offline.',
    shown(
      identityProcess('reads no network, stores nothing, and prints the same identity each time'),
    ),
  ],
  [
    'command.onboard',
    '`onboard` signs in, registers, enrols, mints and writes a configuration file.',
    shown(onboarding(wholePass), onboardedHolder(realPass)),
  ],
  [
    'command.onboard-capabilities',
    '`--capabilities` is a comma-separated list of what to mint.',
    shown(onboarding(wholePass, refusals), onboardedHolder(realPass)),
  ],
  [
    'command.onboard-own-keys',
    'W and P of `onboard` come from the agent’s own signer.',
    shown(onboarding('enrols the P of an escrowed viewing key'), onboardedHolder(realPass)),
  ],
  [
    'command.onboard-host-key',
    'By default `ONBOARD_PRIVATE_KEY` signs the session.',
    shown(
      onboarding(
        'signs the session with the host key by default, and lists no P where nothing is enrolled',
      ),
    ),
  ],
  [
    'command.onboard-custodian',
    '`--login custodian_a` has the custodian sign, so that the session is the holder’s.',
    shown(
      custodianOnboarding(
        'waits for the vote, enrols the holder, and writes no credential of the custodian',
      ),
    ),
  ],
  [
    'command.onboard-vote',
    '`onboard` waits for the votes of the wallet’s approval policy.',
    shown(
      custodianOnboarding(
        'waits for the vote, enrols the holder, and writes no credential of the custodian',
        'goes on with the same request after it was ended while it waited',
        'says why the vote went against it, and keeps nothing',
      ),
    ),
  ],
  [
    'command.onboard-own-session',
    'A custodian-A holder is enrolled from its own session only.',
    shown(custodianOnboarding('is the only session that enrols this holder')),
  ],
  [
    'command.balance',
    '`balance` prints the amount that can be spent, with `DISBURSE_BALANCE_TOKEN`.',
    shown(balanceStack('is printed by the command as one line, and quiet in a pipe')),
  ],
  [
    'command.balance-watch',
    '`balance --watch` prints the balance, then each arrival with the new balance, until it is interrupted, and waits outages out.',
    shown(
      watchCommand(
        'prints the balance, then a line for each arrival and the new balance',
        'prints one JSON document for each line with --json',
        'reports an outage once, goes on at the same place, and reports its end',
        'ends at once when it is interrupted while it waits for the agent',
      ),
      redelivered('serves the notes of a payment again after the platform lost them'),
    ),
  ],
  [
    'command.notes-export',
    '`notes export` writes the sealed notes of the holder into a new file, without a key.',
    shown(
      notesCommand(
        'writes a new file of mode 0600 with every note, spent ones too, and without a key',
        'never overwrites a file',
        'prints the document alone on standard output, and what it is beside it',
      ),
    ),
  ],
  [
    'command.notes-import',
    '`notes import` takes notes that the chain has and the viewing key opens, and refuses each other entry with its reason.',
    shown(
      notesCommand(
        'takes an export into another directory, and again without effect',
        'takes what a funder delivered again, and leaves the notes of others',
        'refuses each bad entry with its place and reason, takes the others, and ends with 1',
      ),
      redelivered('serves the notes of a payment again after the platform lost them'),
    ),
  ],
  [
    'command.transfer',
    '`transfer --to W --amount` pays one holder.',
    shown(
      spendRecipients('are one W with --amount'),
      spendCommand('reads each operation’s key from its own variable, and the default token'),
    ),
  ],
  [
    'command.transfer-fan-out',
    'Several `--to W:amount` pay several; such an amount has precedence over `--amount`.',
    shown(
      spendRecipients('are several, and an amount of a payee’s own has precedence over --amount'),
    ),
  ],
  [
    'command.send',
    '`send --amount [--to label]` withdraws.',
    shown(
      spendCommand(
        'reads each operation’s key from its own variable, and the default token',
        'the command line > refuses %j',
      ),
    ),
  ],
  [
    'command.consolidate',
    '`consolidate` shows its steps and their time, and merges notes until one spend covers what is asked for.',
    shown(
      consolidateCommand(
        'shows steps and time before it sends anything',
        'asks on a terminal, and sends nothing without a yes',
      ),
      spendStack('merges 17 notes until one spend covers all of them'),
    ),
  ],
  [
    'command.self-submit',
    '`send --self-submit` withdraws with chain data, archived notes and keys alone, and pays nothing twice.',
    shown(
      selfSubmitted(
        'needs no platform, gate, agent or registry from now on',
        'shows cost, cap and what becomes public, and continues after SIGKILL with the same transaction',
        'does not pay again with --amount and --yes what a killed command has paid',
      ),
    ),
  ],
  [
    'command.disburse-allowance-line',
    '`disburse` prints an insufficient allowance as `allowance: insufficient at the pre-proof check`.',
    shown(sandbox('also pays a roster by the agent’s own command, and reports the allowance')),
  ],
  [
    'command.disburse-skipped',
    'A run of `disburse` that skipped recipients names them and has its own exit code.',
    shown(
      payRunCommand('names skipped recipients by line, before and after the run, and exits with 5'),
    ),
  ],
  [
    'command.disburse-asks-first',
    '`disburse` sends nothing while the batch could not be settled, and prints the reason.',
    shown(payRunCommand('sends nothing while the funder has too few tokens, and exits with 6')),
  ],
  [
    'command.recipients-check',
    '`recipients check` names the recipients of a roster who are not ready, and moves nothing.',
    shown(
      payRunCommand('lists before payday the recipients that are not ready, as text, JSON and CSV'),
    ),
  ],
  [
    'command.viewing-key-new',
    '`viewing-key new` makes a viewing key, prints it once with both P, and stores nothing.',
    shown(
      identityCommand(
        'prints a scalar with its P on each curve, which identity then prints',
        'makes another key each time',
        'prints the document encrypted to an age recipient, and not in clear',
      ),
    ),
  ],
  [
    'command.approve',
    '`approve` is the gate process of custodian-A funders.',
    shown(
      gateVotes('approves the authorisation, the permit and the withdrawal of a stored batch'),
      gateCrashes('a gate that is killed at %s > votes once and counts once after its restart'),
    ),
  ],
  [
    'command.w-is-no-address',
    '`--to` of a transfer is a W, never an address.',
    shown(spendRecipients('are refused for %s, and the message says what to give')),
  ],
  [
    'command.chain',
    '`--chain` of a spend chooses among the agent’s own chains with a pool, else `invalid-chain`.',
    shown(
      spendCommand('chooses a chain of the agent, and shows that it is a command of this machine'),
      agentSpends('use the chain of the holder, or one of the agent’s own that is asked for'),
      spendKeys('with another chain is a conflict, and the chain is the one that is asked for'),
    ),
  ],
  [
    'command.unknown-outcome',
    'A spend command that does not know the outcome says so, with an exit code of its own, and never sends twice.',
    shown(
      spendCommand(
        'says to read the chain and not to pay again: %s',
        'attaches again after a broken connection, and begins nothing new',
        'is reported if the agent forgot the key in a restart',
      ),
      exitCodesOfErrors('%s ends a command with %i'),
      spendCrashes(
        'at %s: a caller that only attaches ends the spend of a used key, and begins none',
      ),
    ),
  ],
  [
    'command.default-token',
    '`--token` defaults to `DISBURSE_TOKEN_SYMBOL`, else `USDC`.',
    shown(
      spendCommand(
        'reads each operation’s key from its own variable, and the default token',
        'takes the token of DISBURSE_TOKEN_SYMBOL, and --token before it',
      ),
    ),
  ],
  [
    'command.amounts',
    'Amounts of the commands are decimal base units.',
    shown(
      spendRecipients('are one W with --amount'),
      spendCommand('takes tokens with their symbol or with --decimal, and base units'),
    ),
  ],
  [
    'command.dry-run',
    '`--dry-run` builds the proof and submits nothing.',
    shown(
      spendCommand('ends a dry run with 0 and the receipt of it, and prints no key'),
      spending('proves everything, never asks the signer, and leaves nothing behind'),
    ),
  ],
  [
    'command.send-label',
    '`--to` of a send is a label, never an address.',
    shown(spendRecipients('is never an address, not even a pinned one')),
  ],
  [
    'command.send-own-wallet',
    'With no destinations configured, a send goes to the holder’s own wallet only.',
    shown(
      spendChecks('to a label is refused if none is configured'),
      agentSpends(
        'take destinations from DISBURSE_SEND_DESTINATIONS, and without it only the own wallet',
      ),
    ),
  ],
  [
    'command.prints-receipt',
    'A spend prints its receipt.',
    shown(
      spendCommand(
        'prints the receipt as JSON, and only that, on standard output',
        'ends with 4 and the whole receipt if the spend reverted',
      ),
    ),
  ],
  [
    'command.role-credentials',
    'Each operation reads its credential from its own variable.',
    shown(
      spendCommand(
        'reads each operation’s key from its own variable, and the default token',
        'names the variable of a missing key',
      ),
    ),
  ],
]);
