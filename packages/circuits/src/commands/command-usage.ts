/**
 * The text of `pool-circuits --help`.
 *
 * @module
 */
import { circuitNames } from '@pool/core';

const fetchUsage = `pool-circuits fetch --from <url|folder> --out <folder> [--circuit NAME] [--manifest F]
    fetches the files that a manifest pins (default: the committed one; all its circuits) from <from>/<circuit>/
`;

const ceremonyUsage = `pool-circuits ceremony init --r1cs F --ptau F [--ptau-sha256 HEX] --out F [--force]
    writes the key before any contribution; without the digest, the powers of tau must record a secret contribution
pool-circuits ceremony contribute --in F --out F [--name TEXT] [--entropy-file F] [--force]
    multiplies the key by a fresh secret; --entropy-file adds your own randomness (at most 1 MiB is read)
pool-circuits ceremony beacon --in F --out F --beacon HEX --iterations EXPONENT [--name TEXT] [--force]
    ends the ceremony with a public value, hashed 2^EXPONENT times (10 to 40)
pool-circuits ceremony verify --r1cs F --ptau F [--ptau-sha256 HEX] --zkey F
    checks everything; exit code 3 if the key is not valid, or if it has no secret contribution
pool-circuits ceremony export-verifier --zkey F --out F [--solidity F --circuit NAME --contract NAME] [--force]
    writes the verification key as JSON, and as Solidity
`;

export const usage = `pool-circuits list
pool-circuits build --circuit <${circuitNames.join('|')}> [--cache-dir <folder>] [--zkey <file>]
    builds development keys: anyone can forge proofs under them
${fetchUsage}${ceremonyUsage}
Every command except list and build accepts --json. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 refused.
`;
