/**
 * `enclave` in a configuration: the socket of an enclave, and what it must prove.
 *
 * @module
 */
import {
  accept,
  type ConfigVariable,
  choice,
  evmAddress,
  type Kind,
  path,
  readVariable,
  reject,
  walletPub,
} from '@pool/configuration';
import { isPoolError } from '@pool/core';
import { areDevelopmentPcrs } from '../attestation/development-attestation.ts';
import { createEnclaveHolder, createEnclaveSigner } from '../enclave/enclave-signer.ts';
import { parsePcrPins, parseRootSha256 } from '../enclave/pins.ts';
import {
  complete,
  type FunderRole,
  type RemoteHolderRole,
  type SignerReader,
  variablesOf,
} from './signer-role.ts';

/** @param parse - its messages begin with "the … must be" and quote no value */
function parsing<T>(label: string, parse: (text: string) => T): Kind<T> {
  return {
    label,
    parse(text) {
      try {
        return accept(parse(text));
      } catch (error) {
        return reject(`is wrong: ${isPoolError(error) ? error.message : 'it cannot be read'}`);
      }
    },
  };
}

/** @param own - what is pinned of the key. @param purposes - in the order of the README */
function createVariables<T>(
  prefix: string,
  role: string,
  own: ConfigVariable<T>,
  purposes: Readonly<Record<'socket' | 'rootSha256' | 'pcrs' | 'deterministic', string>>,
) {
  const variable = variablesOf(role);
  const root = parsing('SHA-256, 64 hex digits', parseRootSha256);
  const pins = parsing('`0=<hex>,1=<hex>,2=<hex>`', parsePcrPins);
  return {
    socketPath: variable(`${prefix}_SOCKET`, purposes.socket, path),
    own,
    rootSha256: variable(`${prefix}_ROOT_SHA256`, purposes.rootSha256, root),
    pcrs: variable(`${prefix}_PCRS`, purposes.pcrs, pins),
    deterministic: {
      name: `${prefix}_DETERMINISTIC`,
      role,
      purpose: purposes.deterministic,
      kind: choice<'true' | 'false'>(['true', 'false']),
      fallback: () => 'true' as const,
    },
  } as const;
}

type Variables = Omit<ReturnType<typeof createVariables>, 'own'>;
type Connection = NonNullable<ReturnType<typeof readConnection>>;

function readConnection({ need, defaulted }: SignerReader, variables: Variables) {
  return complete({
    socketPath: need(variables.socketPath),
    rootSha256: need(variables.rootSha256),
    pcrs: need(variables.pcrs),
    deterministic: defaulted(variables.deterministic) === 'true',
  });
}

/**
 * A development root is accepted if it is the pinned one, the PCRs of a development enclave are pinned, and this is not production. The
 * agent warns of such pins at start.
 */
function describeOptions({ rootSha256, pcrs, ...rest }: Connection, isProduction: boolean) {
  const allowInsecureDevelopmentRoot = !isProduction && areDevelopmentPcrs(pcrs);
  return { ...rest, pins: { rootSha256, pcrs, allowInsecureDevelopmentRoot } };
}

/** Pins of an enclave in which nothing is measured. Its key is real, so an agent outside production uses it, and says so. */
function warnOfDevelopment(pcrs: Variables['pcrs']): NonNullable<FunderRole['findWarnings']> {
  return (layers) => {
    const { value } = readVariable(pcrs, layers);
    const { name } = pcrs;
    const message = `${name} names a development enclave: its root proves which key answers, and nothing about the machine. NODE_ENV=production refuses it`;
    return value !== undefined && areDevelopmentPcrs(value) ? [{ variable: name, message }] : [];
  };
}

const funder = createVariables(
  'DISBURSE_ENCLAVE',
  'disburse',
  variablesOf('disburse')('DISBURSE_ENCLAVE_ADDRESS', 'address of its key', evmAddress),
  {
    socket: "AF_UNIX socket of the funder's enclave or of its bridge",
    rootSha256: 'fingerprint of the root that attests it',
    pcrs: 'measurements of its code',
    deterministic: '`false` if its key is in a PKCS#11 token: signatures do not repeat',
  },
);

export const enclaveFunder = {
  variables: Object.values(funder),
  address: funder.own,
  findWarnings: warnOfDevelopment(funder.pcrs),
  answers: 'the enclave answers, and its attestation is that of the configuration',
  read(reader) {
    const enclave = readConnection(reader, funder);
    const found = complete({ enclave, address: reader.need(funder.own) });
    return (
      found && {
        ...found,
        open: ({ isProduction }) =>
          createEnclaveSigner({
            ...describeOptions(found.enclave, isProduction),
            address: found.address,
          }),
      }
    );
  },
} as const satisfies FunderRole;

const holder = createVariables(
  'DISBURSE_HOLDER_ENCLAVE',
  'holder, identity',
  variablesOf('holder, identity')(
    'DISBURSE_HOLDER_ENCLAVE_WALLET_PUB',
    "W of the holder's enclave",
    walletPub,
  ),
  {
    socket: "the same, for the holder's enclave",
    rootSha256: 'as above',
    pcrs: 'as above',
    deterministic: 'as above; no viewing key derives then',
  },
);

export const enclaveHolder = {
  variables: Object.values(holder),
  place: 'remote',
  curve: 'secp256k1',
  walletPub: holder.own,
  needsVote: false,
  needsViewingKey: false,
  secrets: [],
  findWarnings: warnOfDevelopment(holder.pcrs),
  answers:
    "the holder's enclave answers, and its attestation and its key are those of the configuration",
  read(reader) {
    const enclave = readConnection(reader, holder);
    const found = complete({ enclave, walletPub: reader.need(holder.own) });
    return (
      found && {
        ...found,
        open: ({ isProduction, pollMs, sleep }) =>
          createEnclaveHolder({
            ...describeOptions(found.enclave, isProduction),
            ...{ walletPub: found.walletPub, pollMs, sleep },
          }),
        describe() {
          const { socketPath, rootSha256, pcrs, deterministic } = found.enclave;
          const pins = pcrs.map((pcr, index) => `${index}=${Buffer.from(pcr).toString('hex')}`);
          return [
            `${holder.socketPath.name}=${socketPath}`,
            `${holder.own.name}=${found.walletPub}`,
            `${holder.rootSha256.name}=${Buffer.from(rootSha256).toString('hex')}`,
            `${holder.pcrs.name}=${pins.join(',')}`,
            ...(deterministic ? [] : [`${holder.deterministic.name}=false`]),
          ];
        },
      }
    );
  },
} as const satisfies RemoteHolderRole;
