// Resources of the platform: identity, enrolment, API keys.
import { section, shown } from '../statement.ts';
import {
  access,
  admission,
  agentAccess,
  deployment,
  edgeRoutes,
  employerRoutes,
  gateApp,
  gateConfirmation,
  holderKeys,
  identityCommand,
  identityProcess,
  onboardedHolder,
  wire,
} from '../test-files.ts';

const printsIdentity =
  'prints address, W and P of a local key, without a platform, and writes nothing';
const offline = identityProcess(
  'reads no network, stores nothing, and prints the same identity each time',
);

export const identity = section('Holder identity', [
  ['identity.offline', '`identity` does not use the network.', shown(offline)],
  [
    'identity.derives',
    'W and P come from the configured holder signer.',
    shown(
      identityCommand(
        printsIdentity,
        'derives P from the viewing key of the default derivation',
        'takes the family from DISBURSE_CHAIN=%s',
      ),
      holderKeys('derives the viewing key $viewingKey'),
    ),
  ],
  [
    'identity.fields',
    'It prints platform, address, walletPub, encryptionPublicKey, signer and deterministic.',
    shown(identityCommand(printsIdentity)),
  ],
  [
    'identity.address-is-sessions',
    'The printed address is the one whose session enrols.',
    shown(
      onboardedHolder(
        'enrols the holder in its own session, and writes credentials that work',
        'opens no account where it refuses, and names --login holder',
      ),
    ),
  ],
]);

const enrols = 'enrols the session’s wallet and reports the answer of the gate';

export const enrolment = section('Enrolment', [
  [
    'enrol.body',
    'Enrolment takes walletPub and encryptionPublicKey, both required.',
    shown(
      employerRoutes(enrols),
      admission('enrols an invited wallet by the usual calls, also a second time'),
      wire('without %s: only where it may be left out'),
    ),
  ],
  [
    'enrol.response',
    'It answers success, created, W, P, readiness and, once confirmed, the time of the gate’s confirmation in ISO 8601.',
    shown(
      employerRoutes(enrols),
      gateConfirmation('reports the time of confirmation together with ready only'),
    ),
  ],
  [
    'enrol.read-state',
    'Reading the enrolment answers the state as last written.',
    shown(
      employerRoutes(
        enrols,
        'is pending while the gate takes longer than one request waits, and ready afterwards',
      ),
    ),
  ],
  [
    'enrol.ready',
    '`ready`: W and P are registered and the gate has confirmed W.',
    shown(employerRoutes(enrols)),
  ],
  [
    'enrol.pending',
    '`eligibility_pending`: registered, not confirmed yet.',
    shown(
      employerRoutes(
        'is pending while the gate takes longer than one request waits, and ready afterwards',
      ),
    ),
  ],
  [
    'enrol.failed',
    '`eligibility_failed`: this request’s own write to the gate failed or did not reach it.',
    shown(
      employerRoutes(
        'is failed when the gate cannot be reached, and tries again on the next call',
        'is failed when screening denies the wallet',
      ),
    ),
  ],
  [
    'enrol.disabled',
    '`eligibility_disabled`: the deployment has no gate.',
    shown(
      employerRoutes(
        'is disabled in a deployment without a gate, and asks the gate after one is configured',
      ),
      edgeRoutes(
        'reports no wallet as fundable without a gate, even if an earlier gate confirmed it',
      ),
    ),
  ],
  [
    'enrol.not-enrolled',
    '`not_enrolled`: there is no record of the wallet.',
    shown(employerRoutes(enrols)),
  ],
  [
    'enrol.address-checked',
    'The platform derives the address from W and refuses a W that is not the session’s.',
    shown(employerRoutes('refuses a wallet that is not the session’s')),
  ],
  [
    'enrol.screened',
    'W is screened like recipients.',
    shown(
      employerRoutes('is failed when screening denies the wallet'),
      gateApp('denies by a deny list, and removes a wallet that is denied later'),
    ),
  ],
  [
    'enrol.idempotent',
    'Enrolling the same pair again changes nothing.',
    shown(employerRoutes(enrols)),
  ],
  ['enrol.no-credential', 'Enrolling issues no credential.', shown(employerRoutes(enrols))],
]);

export const readiness = section('Transitions of readiness', [
  [
    'readiness.first-post',
    'From `not_enrolled`, onboarding registers W and P, screens W and answers the readiness of that call.',
    shown(employerRoutes(enrols)),
  ],
  [
    'readiness.repost-drives-pending',
    'From `eligibility_pending`, the same call again continues the confirmation.',
    shown(
      gateConfirmation(
        'asks the gate at every onboard and at no read',
        'keeps the result of a later write when an earlier write fails or is answered late',
      ),
    ),
  ],
  [
    'readiness.repost-retries-failed',
    'From `eligibility_failed`, the same call again retries the write to the gate.',
    shown(
      employerRoutes('is failed when the gate cannot be reached, and tries again on the next call'),
    ),
  ],
  [
    'readiness.read-drives-nothing',
    'Reading the enrolment starts no confirmation.',
    shown(gateConfirmation('asks the gate at every onboard and at no read')),
  ],
]);

const shownOnce = 'shows the plaintext once, and stores a hash';
const untilRevoked = 'mints %s and verifies it until it is revoked';
const fifty = 'allows 50 live keys per wallet, and another one after a revocation';

export const apiKeys = section('API keys', [
  [
    'key.capabilities',
    'A key is minted for `disburse`, `holder.read`, `holder.transfer` or `holder.send` only.',
    shown(employerRoutes(untilRevoked), wire('limits > refuse %s')),
  ],
  [
    'key.name',
    'A key has a capability and a free label, both required.',
    shown(
      employerRoutes(shownOnce, 'refuses a name with %s, and names it'),
      wire('without %s: only where it may be left out'),
    ),
  ],
  [
    'key.response',
    'Minting answers success, id, apiKey, keyPrefix, capability, name and an ISO 8601 createdAt.',
    shown(
      employerRoutes(shownOnce),
      wire('refuses an unknown field, and a value that is not an object'),
    ),
  ],
  [
    'key.prefix',
    'The key starts with the live prefix, and keyPrefix is a short part of it that is not secret.',
    shown(employerRoutes(shownOnce)),
  ],
  [
    'key.plaintext-once',
    'The plaintext is answered once, at creation.',
    shown(employerRoutes(shownOnce)),
  ],
  [
    'key.list',
    'The list is metadata only and also has revoked keys.',
    shown(employerRoutes(shownOnce, untilRevoked, fifty)),
  ],
  ['key.id-revokes', 'The id of a key revokes it.', shown(employerRoutes(untilRevoked))],
  [
    'key.stored-hashed',
    'The platform stores no plaintext, so it cannot answer it later.',
    shown(employerRoutes(shownOnce)),
  ],
  [
    'key.revocation-next-request',
    'A revoked key fails at the agent’s next request, with nothing restarted.',
    shown(
      agentAccess('refuses a key from the first request after its revocation on'),
      deployment('accepts a disburse key of its employer, and no other credential'),
      access('pays once when the key is rotated between a request and its retry'),
    ),
  ],
  [
    'key.additive',
    'Minting revokes no other key.',
    shown(employerRoutes(fifty, 'revokes a key once, and keeps the other keys valid')),
  ],
  [
    'key.limit',
    'A wallet has at most 50 live keys.',
    shown(employerRoutes(fifty, 'mints 50 of 60 keys that are requested concurrently')),
  ],
]);
