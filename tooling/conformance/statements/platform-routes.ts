// The platform's routes.
import { section, shown } from '../statement.ts';
import {
  access,
  authRoutes,
  bootstrap,
  edgeRoutes,
  employerRoutes,
  keyRotation,
  platformProcesses,
} from '../test-files.ts';

export const platformRoutes = section('Platform routes', [
  [
    'register.creates',
    '`POST /api/employers/register` creates the employer account of the session once, without W and P.',
    shown(
      employerRoutes(
        'register > is idempotent per wallet',
        'enrols the session’s wallet and reports the answer of the gate',
      ),
    ),
  ],
  [
    'register.session',
    'Registering needs a session.',
    shown(
      employerRoutes(
        'register > requires a session',
        '%s %s accepts no credential but the session cookie',
      ),
    ),
  ],
  [
    'onboard.session',
    'Enrolling requires the session cookie.',
    shown(
      authRoutes('ends a session at its expiry'),
      employerRoutes('%s %s accepts no credential but the session cookie'),
    ),
  ],
  [
    'employers.session',
    'So does every other employer route except verify-key: no API key and no edge token gives access.',
    shown(employerRoutes('%s %s accepts no credential but the session cookie')),
  ],
  [
    'enrollment.read',
    '`GET /api/employers/holder/enrollment` reads the readiness.',
    shown(employerRoutes('enrols the session’s wallet and reports the answer of the gate')),
  ],
  [
    'rotate.changes-p',
    '`POST /api/employers/holder/rotate-encryption-key` changes the key that notes are sealed to from now on.',
    shown(
      keyRotation(
        'registers the new key with its evidence, keeps readiness, and accepts a repetition',
      ),
      edgeRoutes(
        'serves only notes of the registered key: notes from before a rotation are not served',
      ),
    ),
  ],
  [
    'rotate.names-current',
    'Rotation names W, the present P and the next.',
    shown(
      keyRotation(
        'requires the current key and the session’s wallet in the request',
        'requires a sign-in that lists the new key',
        'requires a text newer than the registered one, because agents believe the first of two texts of the same instant',
      ),
    ),
  ],
  [
    'rotate.reencrypts-nothing',
    'Notes that are already sealed stay sealed to the previous key.',
    shown(
      edgeRoutes(
        'serves only notes of the registered key: notes from before a rotation are not served',
      ),
    ),
  ],
  [
    'keys.mint',
    '`POST /api/employers/keys` mints one key.',
    shown(employerRoutes('shows the plaintext once, and stores a hash')),
  ],
  [
    'keys.list',
    '`GET /api/employers/keys` lists every key that was minted for the wallet.',
    shown(
      employerRoutes(
        'allows 50 live keys per wallet, and another one after a revocation',
        'mints %s and verifies it until it is revoked',
      ),
    ),
  ],
  [
    'keys.revoke',
    '`DELETE /api/employers/keys/:id` revokes one key, of the session’s own.',
    shown(
      employerRoutes(
        'mints %s and verifies it until it is revoked',
        'does not revoke a key of another wallet or an unknown key',
      ),
    ),
  ],
  [
    'verify-key.for-agents',
    '`POST /api/employers/verify-key` tells an agent, and no other caller, whose key it received.',
    shown(
      employerRoutes(
        'mints %s and verifies it until it is revoked',
        'verify-key > refuses %s',
        'refuses an API key in place of an edge token',
      ),
      platformProcesses('verifies a key until it is revoked'),
    ),
  ],
  [
    'bootstrap.vends',
    '`/agent-edge/bootstrap` can vend the default chain and the pool-gate’s settings.',
    shown(
      edgeRoutes('answers bootstrap for the employer of the token'),
      bootstrap('vends the default chain, and the pool-gate with the reading client'),
      access('pays on the chain that bootstrap vends if DISBURSE_CHAIN is not set'),
      platformProcesses(
        'pays a roster and serves each recipient its note, through kills of both processes',
      ),
    ),
  ],
]);
