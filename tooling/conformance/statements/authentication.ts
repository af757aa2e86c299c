// Who may do what, and how callers are identified.
import { section, shown } from '../statement.ts';
import {
  access,
  agentAccess,
  agentApp,
  agentBearer,
  agentConfig,
  agentFuzz,
  agentHome,
  agentStart,
  authRoutes,
  balanceRoute,
  balanceStack,
  configRules,
  contractWallets,
  deployment,
  edgeRoutes,
  edgeSpends,
  employerRoutes,
  keyVerifier,
  sandbox,
  spendRoutes,
} from '../test-files.ts';

const onlyItsKeys = 'accepts a disburse key of its employer, and no other credential';

export const authentication = section('Authentication', [
  [
    'auth.session-cookie',
    'The platform’s employer routes require a session cookie named `sessionId`.',
    shown(authRoutes('opens a session of the recovered wallet, behind an httpOnly cookie')),
  ],
  [
    'auth.headless-sign-in',
    'A program signs in by signing a text, with no browser.',
    shown(sandbox('pays a roster as the contract of the service describes it')),
  ],
  [
    'auth.session-wallet-is-w',
    'The session’s wallet must be the wallet of W.',
    shown(
      employerRoutes('refuses a wallet that is not the session’s'),
      contractWallets('cannot enrol, rotate or mint a key of a holder'),
    ),
  ],
  [
    'auth.agent-bearer',
    'Every agent route except readyz and livez requires a bearer credential.',
    shown(agentApp('bearer > %s', 'can read livez without a credential')),
  ],
  [
    'auth.api-key-or-loopback',
    'The bearer is an API key of the funding party or the agent’s own loopback token.',
    shown(
      agentApp('bearer > %s'),
      agentHome('the loopback token > is created once, readable by its owner only'),
    ),
  ],
  [
    'auth.verified-by-platform',
    'An API key is verified with the platform, at every request.',
    shown(
      agentApp('asks the platform at every request, and refuses every key when it does not answer'),
      keyVerifier('asks the platform every time and caches nothing'),
      access('accepts no API key while the platform does not answer'),
    ),
  ],
  [
    'auth.verify-url-needed',
    'Without `DISBURSE_PLATFORM_VERIFY_URL` no API key is accepted.',
    shown(agentBearer('accepts no API key if the platform’s verify-key is not configured')),
  ],
  [
    'auth.loopback-by-default',
    'The agent binds to loopback, port 8787, by default.',
    shown(
      agentConfig(
        'requires the platform only, and has the documented defaults',
        'binds to another address only behind a proxy',
      ),
      access('listens on loopback only'),
    ),
  ],
]);

export const capabilities = section('Capabilities', [
  [
    'capability.disburse',
    'A `disburse` key reaches the disbursement routes.',
    shown(deployment(onlyItsKeys)),
  ],
  [
    'capability.holder-read',
    'A `holder.read` key reaches the balance.',
    shown(
      balanceStack('refuses other wallets, other capabilities and the loopback token'),
      balanceRoute(
        'does not admit %s',
        'does not admit a holder.read key at the disbursement routes',
      ),
    ),
  ],
  [
    'capability.holder-transfer',
    'A `holder.transfer` key reaches transfers.',
    shown(
      spendRoutes('answers the receipt on the same connection', 'POST /api/%s > does not admit %s'),
    ),
  ],
  [
    'capability.holder-send',
    'A `holder.send` key reaches sends.',
    shown(
      spendRoutes('answers the receipt on the same connection', 'POST /api/%s > does not admit %s'),
    ),
  ],
  [
    'capability.one-only',
    'A key reaches the routes of its own capability and no others.',
    shown(
      agentAccess('gives a %s key the access of its capability'),
      edgeRoutes('notes > refuses a %s key', 'refuses a %s key at every route of agents'),
      access('accepts only a disburse key at %s', 'checks the capability again at the edge'),
      deployment(onlyItsKeys),
    ),
  ],
  [
    'capability.holder-not-disburse',
    'No holder’s key disburses, validates or reads a job, and only `holder.read` reads notes at the edge.',
    shown(
      agentAccess('gives a %s key the access of its capability'),
      access('accepts only a disburse key at %s', 'checks the capability again at the edge'),
    ),
  ],
  [
    'capability.transfer-not-send',
    'A key that can transfer cannot send, and a key that can send cannot transfer.',
    shown(
      spendRoutes('POST /api/%s > does not admit %s'),
      agentFuzz('spends nothing for %s, for any request'),
      edgeSpends('lets a key that transfers not withdraw, and the reverse'),
    ),
  ],
  [
    'capability.foreign-employer',
    'Another employer’s key is refused.',
    shown(
      agentAccess('refuses the disburse key of another employer'),
      access('accepts only a disburse key at %s'),
      sandbox('pays a roster as the contract of the service describes it'),
    ),
  ],
  [
    'capability.revoked',
    'A revoked key is refused at the next request.',
    shown(
      agentAccess('refuses a key from the first request after its revocation on'),
      sandbox('pays a roster as the contract of the service describes it'),
    ),
  ],
]);

export const separation = section('Separation of credentials', [
  [
    'separation.balance',
    '`DISBURSE_BALANCE_TOKEN` may equal neither spend token nor the edge token.',
    shown(
      configRules('refuses %s equal to %s', 'refuses %s equal to %s through files, of either form'),
      agentStart('ends the start: %s and %s, inline and through files'),
    ),
  ],
  [
    'separation.spend',
    '`DISBURSE_TRANSFER_TOKEN` and `DISBURSE_SEND_TOKEN` may not equal the edge token.',
    shown(
      configRules('refuses %s equal to %s', 'refuses %s equal to %s through files, of either form'),
      agentStart('ends the start: %s and %s, inline and through files'),
    ),
  ],
]);
