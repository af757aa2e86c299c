// Signers and viewing keys.
import { custody, section, shown } from '../statement.ts';
import {
  agentConfig,
  agentStart,
  configRules,
  edgeRoutes,
  encryptionKey,
  holderKeys,
  identityCommand,
  localKey,
  signing,
  spending,
  viewingKey,
} from '../test-files.ts';

const escrowRoundTrip = 'prints a scalar with its P on each curve, which identity then prints';

export const signers = section('Signers and viewing keys', [
  [
    'signer.one-funder',
    'A funder has exactly one signer: enclave, local key, custodian B or custodian A.',
    custody,
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
    'signer.unbuilt-refused',
    'A signer that a build does not have is refused at start, by name.',
    shown(
      agentConfig('names the later release for signers that are not in this build'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  [
    'signer.second-process',
    'An MPC funder needs a second process on another host, which recomputes the digest and refuses what its policy does not match.',
    custody,
  ],
  [
    'signer.holder-in-custody',
    'With `custodian_a` no key on the agent’s host can move the balance.',
    custody,
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
