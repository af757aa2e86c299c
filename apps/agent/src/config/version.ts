/**
 * The version of this package and that of Node which it needs, from its own package.json.
 *
 * @module
 */
import manifest from '../../package.json' with { type: 'json' };

export const { version } = manifest;

/** A range, for example `>=22.18`. */
export const requiredNode = manifest.engines.node;
