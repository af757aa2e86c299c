/**
 * What shall go wrong next. A test arms a fault over the control API; it is used up `times` times, in the order of arrival.
 *
 * @module
 */
import * as v from 'valibot';

/** What happens to an answer of the API, before or after the work was done. */
const httpEffects = ['error', 'drop', 'hang', 'delay', 'redirect'] as const;
/** What is wrong with a signature that is handed out. */
const resultEffects = [
  'wrong-signature',
  'other-digest',
  'other-content',
  'missing-v',
  'with-v',
  'high-s',
  'low-s',
  'with-prefix',
  'short-r',
  'no-messages',
] as const;
/** What is wrong with a callback. */
const callbackEffects = [
  'duplicate',
  'raw-only',
  'id-only',
  'disagree',
  'neither',
  'second-raw',
  'foreign-signer',
  'foreign-key',
  'unsigned',
] as const;

const times = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1);

const faultSchema = v.variant('kind', [
  v.strictObject({
    kind: v.literal('http'),
    on: v.optional(v.picklist(['create', 'read', 'find', 'cancel', 'any']), 'create'),
    effect: v.picklist(httpEffects),
    /** `after`: the work was done, and only the answer is lost. */
    when: v.optional(v.picklist(['before', 'after']), 'after'),
    delayMs: v.optional(v.pipe(v.number(), v.minValue(0)), 100),
    status: v.optional(v.pipe(v.number(), v.minValue(400), v.maxValue(599)), 500),
    times,
  }),
  v.strictObject({ kind: v.literal('result'), effect: v.picklist(resultEffects), times }),
  v.strictObject({ kind: v.literal('callback'), effect: v.picklist(callbackEffects), times }),
  /** The next reads show this status. The transaction itself goes on. */
  v.strictObject({
    kind: v.literal('status'),
    status: v.pipe(v.string(), v.minLength(1), v.maxLength(60)),
    subStatus: v.optional(v.string(), ''),
    times,
  }),
]);

export type FaultInput = v.InferInput<typeof faultSchema>;
export type Fault = v.InferOutput<typeof faultSchema>;
export type HttpFault = Extract<Fault, { kind: 'http' }>;
export type ResultEffect = (typeof resultEffects)[number];
export type CallbackEffect = (typeof callbackEffects)[number];

export type Faults = {
  /** @throws ValiError for an unknown fault */
  arm(fault: unknown): void;
  takeHttp(on: HttpFault['on'], when: HttpFault['when']): HttpFault | undefined;
  takeResult(): ResultEffect | undefined;
  takeCallback(): CallbackEffect | undefined;
  takeStatus(): Extract<Fault, { kind: 'status' }> | undefined;
  list(): readonly Fault[];
  clear(): void;
};

export function createFaults(): Faults {
  let armed: Fault[] = [];

  function take<T extends Fault>(matches: (fault: Fault) => fault is T): T | undefined {
    const fault = armed.find(matches);
    if (fault !== undefined) {
      armed = armed.flatMap((other) => {
        if (other !== fault) {
          return [other];
        }
        return other.times > 1 ? [{ ...other, times: other.times - 1 }] : [];
      });
    }
    return fault;
  }

  return {
    arm: (fault) => {
      armed.push(v.parse(faultSchema, fault));
    },
    takeHttp: (on, when) =>
      take(
        (fault): fault is HttpFault =>
          fault.kind === 'http' && (fault.on === on || fault.on === 'any') && fault.when === when,
      ),
    takeResult: () => take((fault) => fault.kind === 'result')?.effect,
    takeCallback: () => take((fault) => fault.kind === 'callback')?.effect,
    takeStatus: () => take((fault) => fault.kind === 'status'),
    list: () => armed,
    clear: () => {
      armed = [];
    },
  };
}
