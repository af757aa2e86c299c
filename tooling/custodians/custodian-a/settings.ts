/**
 * How the simulator behaves where the real provider is not the same every time, and faults of its signatures. The
 * control API changes settings while the simulator runs.
 *
 * @module
 */
import * as v from 'valibot';

/** Spellings of r, s and recid in answers. `mixed` takes the first four in turn. */
export const signatureForms = ['canonical', 'no-prefix', 'no-recid', 'short', 'recid-27'] as const;
export type SignatureForm = (typeof signatureForms)[number];

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const seconds = v.pipe(v.number(), v.minValue(0.001));

export const settingsSchema = v.strictObject({
  /** Items of a page when the request names no limit. */
  pageSize: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100))),
  challengeSeconds: v.optional(seconds),
  userActionSeconds: v.optional(seconds),
  /** HTTP status of a create that waits for an approval: both are documented. */
  pendingStatus: v.optional(v.picklist(['mixed', '200', '202'])),
  /** How many reads of a request answer `Executing` before it is signed. 0: it is signed at once. */
  executingReads: v.optional(count),
  /** Last state of a signed `Transaction`. */
  transactionEnd: v.optional(v.picklist(['mixed', 'Signed', 'Confirmed'])),
  signatureForm: v.optional(v.picklist(['mixed', ...signatureForms])),
  highS: v.optional(v.picklist(['random', 'always', 'never'])),
  /** `other-key` and `other-digest` make wrong signatures. */
  signer: v.optional(v.picklist(['wallet', 'other-key', 'other-digest'])),
  /** Signs again at every read: two different signatures for one digest. */
  resignOnRead: v.optional(v.boolean()),
  /** Answers another request body than the one that was sent. */
  foreignBody: v.optional(v.boolean()),
  /** Requests end as `Failed`. */
  failSigning: v.optional(v.boolean()),
  /** Keeps webhook events until they are flushed. */
  webhookHold: v.optional(v.boolean()),
  /** How often each webhook event is delivered. */
  webhookCopies: v.optional(v.pipe(count, v.minValue(1))),
  webhookOrder: v.optional(v.picklist(['in-order', 'reversed'])),
});

export type SettingsPatch = v.InferOutput<typeof settingsSchema>;
export type Settings = { -readonly [K in keyof SettingsPatch]-?: NonNullable<SettingsPatch[K]> };

const defaults: Settings = {
  pageSize: 20,
  challengeSeconds: 900,
  userActionSeconds: 300,
  pendingStatus: 'mixed',
  executingReads: 1,
  transactionEnd: 'mixed',
  signatureForm: 'mixed',
  highS: 'random',
  signer: 'wallet',
  resignOnRead: false,
  foreignBody: false,
  failSigning: false,
  webhookHold: false,
  webhookCopies: 1,
  webhookOrder: 'in-order',
};

export function createSettings(patch: SettingsPatch): Settings {
  return applySettings({ ...defaults }, patch);
}

/** Changes settings in place: the engine holds the same object. */
export function applySettings(settings: Settings, patch: SettingsPatch): Settings {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  return Object.assign(settings, Object.fromEntries(given));
}
