/**
 * Dawn for Node asks its driver for events in an endless loop of `setImmediate` while anything is pending. A software driver needs that
 * core, for seconds at a time. After this module is loaded, Dawn asks once a millisecond. Only Dawn passes native functions.
 */
const immediate = globalThis.setImmediate;
function paced(call: () => void, ...args: []): unknown {
  return call.toString().includes('[native code]') ? setTimeout(call, 1) : immediate(call, ...args);
}
globalThis.setImmediate = Object.assign<typeof paced, typeof immediate>(paced, immediate);
