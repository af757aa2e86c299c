// Signers and viewing keys.
import { section, shown } from '../statement.ts';
import {
  agentConfig,
  agentStart,
  configRules,
  custodyConfig,
  custodyStack,
  edgeRoutes,
  encryptionKey,
  gateConfig,
  holderKeys,
  hostileAgent,
  identityCommand,
  localKey,
  signing,
  spending,
  spendVotes,
  viewingKey,
  votes,
} from '../test-files.ts';

const escrowRoundTrip = 'prints a scalar with its P on each curve, which identity then prints';

export const signers = section('Signers and viewing keys', [
  [
    'signer.one-funder',
    'A funder has exactly one signer: enclave, local key, custodian B or custodian A.',
    shown(custodyConfig('the funder > has exactly one signer')),
  ],
  [
    'signer.local-key',
    'The local key signs fund authorisations deterministically, and nothing else.',
    shown(
      localKey(
        'the local key makes the same signatures as ethers > knows its address and public key',
        'the local key makes the same signatures as ethers > a fund authorisation',
        'the local key refuses > what its configuration does not allow',
      ),
    ),
  ],
  [
    'signer.variables-required',
    'What a signer outside the agent requires is required at start, by name.',
    shown(
      custodyConfig('%s=%s > requires %s by name'),
      agentConfig('names what each signer outside this process requires'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  [
    'signer.second-process',
    'An MPC funder needs a second process on another host, which recomputes the digest and refuses what its policy does not match.',
    shown(
      hostileAgent(
        'a batch of a taken-over agent is refused > in another pool',
        'a batch of a taken-over agent is refused > with a total above the batch limit',
        "a batch of a taken-over agent is refused > with the right W and the attacker's P",
        'a request that its manifest does not reproduce is refused > with other commitments',
        'a request that its manifest does not reproduce is refused > with a dummy that has a value',
      ),
      gateConfig('the configuration of the gate > refuses %s, a variable of the agent'),
    ),
  ],
  [
    'signer.holder-in-custody',
    'With `custodian_a` no key on the agent’s host can move the balance.',
    shown(
      custodyStack(
        'a holder whose key is at %s transfers and withdraws',
        'no agent has a key > in its memory, its environment or its open files',
        'no agent has a key > in its directory or its log',
        'no agent has a key > and the same search finds the key of an agent that signs by itself',
      ),
    ),
  ],
  [
    'signer.votes-wait',
    'A batch waits for the vote of its signer, for hours if need be, and other batches go on.',
    shown(
      votes(
        'a vote on a batch > of four hours is waited for, and the batch is paid with one request and one signature',
        'a vote on a batch > does not hold the lock: a batch that is approved earlier is paid first',
        'a vote on a batch > of hours makes the eligibility root stale: the proof is renewed, and the signature is not',
      ),
    ),
  ],
  [
    'signer.given-up-is-withdrawn',
    'A batch that is given up after it was asked for is denied, or withdrawn on chain, and never released.',
    shown(
      votes(
        'a batch that is given up after the vote began > is denied at the provider first, and fails as cancelled',
        'a batch that is given up after the vote began > is withdrawn on chain and never released if it turns out to be signed',
      ),
    ),
  ],
  [
    'signer.one-rsig',
    'A spend that is voted on lets one rSig per manifest out.',
    shown(
      spendVotes(
        'A spend through custodian A with fresh nonces, a late vote and a crash at every point > (%s) lets one rSig per manifest out',
      ),
    ),
  ],
  [
    'viewing-key.derivation',
    'A viewing key derives from a signature over a fixed text, which a signer with fresh nonces cannot give.',
    shown(
      viewingKey('is the fixed text for $domain', 'derives $viewingKey'),
      localKey('the local key makes the same signatures as ethers > the viewing-key text'),
      signing('returns nothing for a signer that uses fresh nonces'),
    ),
  ],
  [
    'viewing-key.derived',
    'The holder’s roles derive it this way by default.',
    shown(identityCommand('derives P from the viewing key of the default derivation')),
  ],
  [
    'viewing-key.escrowed',
    'Other holders make it once with `viewing-key new`, keep it, and enrol the printed P.',
    shown(identityCommand(escrowRoundTrip)),
  ],
  [
    'viewing-key.missing-ends-start',
    'A missing one ends the start of a holder that cannot derive it.',
    shown(
      configRules('refusals > %s'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  [
    'viewing-key.never-made-by-agent',
    'The agent never generates one by itself.',
    shown(
      holderKeys(
        'derives no viewing key from a signer that says it does not repeat its signatures',
        'derives no viewing key from a signer whose two signatures differ, whatever it says',
      ),
      identityCommand('names evidence.domain and the file if the platform’s domain is missing'),
    ),
  ],
  [
    'viewing-key.restored',
    'A restored key gives the same P in `identity`.',
    shown(
      identityCommand(
        escrowRoundTrip,
        'uses an escrowed viewing key, bare or as the document that made it, and needs no chains.json',
      ),
    ),
  ],
  [
    'viewing-key.p-per-curve',
    'One scalar serves all chains, with another P for each curve.',
    shown(
      identityCommand('gives one escrowed scalar another P on each curve'),
      encryptionKey('computes the X25519 key $x25519PublicKey of the same scalar'),
    ),
  ],
  [
    'viewing-key.previous-p-served',
    'Notes sealed to a previous P are not served.',
    shown(
      edgeRoutes(
        'serves only notes of the registered key: notes from before a rotation are not served',
      ),
    ),
  ],
  [
    'viewing-key.previous-p',
    'Notes sealed to a previous P are not spent without its key.',
    shown(spending('the notes of a spend > under another P are not spent without its viewing key')),
  ],
]);
