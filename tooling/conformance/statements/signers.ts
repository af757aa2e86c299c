// Signers and viewing keys.
import { accountOperations, custody, section, shown } from '../statement.ts';
import {
  agentConfig,
  agentStart,
  configRules,
  edgeRoutes,
  localKey,
  signing,
  viewingKey,
} from '../test-files.ts';

export const signers = section('Signers and viewing keys', [
  [
    'signer.one-funder',
    'A funder has exactly one signer: enclave, local key, custodian B or custodian A.',
    custody,
  ],
  [
    'signer.local-key',
    'The local key signs fund authorisations deterministically, and nothing that it was not built for.',
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
  ['viewing-key.derived', 'The holder’s roles derive it so by default.', accountOperations],
  [
    'viewing-key.escrowed',
    'Other holders make it once with `viewing-key new`, keep it, and enrol the printed P.',
    accountOperations,
  ],
  [
    'viewing-key.missing-ends-start',
    'A missing one ends the start of a holder that cannot derive it.',
    shown(
      configRules('refusals > %s'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  ['viewing-key.never-made-by-agent', 'The agent makes none by itself.', accountOperations],
  ['viewing-key.restored', 'A restored key gives the same P in `identity`.', accountOperations],
  [
    'viewing-key.p-per-curve',
    'One scalar serves all chains, with another P for each curve.',
    accountOperations,
  ],
  [
    'viewing-key.previous-p-served',
    'Notes sealed to a previous P are not served.',
    shown(
      edgeRoutes(
        'serves by the key registered now: those sealed before a rotation are served no more',
      ),
    ),
  ],
  [
    'viewing-key.previous-p',
    'Notes sealed to a previous P are not spent without its key.',
    accountOperations,
  ],
]);
