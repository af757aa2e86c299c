/**
 * What a node of a chain answers that got stuck at a block: transactions and state as of then. It still accepts transactions. What it says is
 * old and not false, so nothing that it calls final changes.
 */

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

export type RpcAnswer = { readonly result?: unknown; readonly error?: unknown };

/** Where the call names its block. */
const blockParameters: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
};

const newest = new Set<unknown>(['latest', 'pending', undefined]);

/** @param ask - answers a call as of now */
export async function askAsOf(
  block: number,
  call: RpcCall,
  ask: (call: RpcCall) => Promise<RpcAnswer>,
): Promise<RpcAnswer> {
  if (call.method === 'eth_blockNumber') {
    return { ...(await ask(call)), result: toHex(block) };
  }
  const at = blockParameters[call.method];
  if (at !== undefined) {
    const named = call.params[at];
    if (isLater(named, block)) {
      const { error, ...answer } = await ask(call);
      return call.method === 'eth_getBlockByNumber'
        ? { ...answer, result: null }
        : { ...answer, result: undefined, error: { code: -32_001, message: 'block not found' } };
    }
    const params = [...call.params];
    params[at] = newest.has(named) ? toHex(block) : named;
    return await ask({ ...call, params });
  }
  const answer = await ask(call);
  const { result } = answer;
  if (Array.isArray(result)) {
    // Logs.
    return { ...answer, result: result.filter((log) => !isLater(blockOf(log), block)) };
  }
  if (!isLater(blockOf(result), block)) {
    return answer;
  }
  return call.method === 'eth_getTransactionByHash'
    ? { ...answer, result: { ...Object(result), ...unmined } }
    : { ...answer, result: null };
}

const unmined = { blockHash: null, blockNumber: null, transactionIndex: null };

/** Of a receipt, transaction or log; of a block. */
function blockOf(value: unknown): unknown {
  const { blockNumber, number } = Object(value) as { blockNumber?: unknown; number?: unknown };
  return blockNumber ?? number;
}

function isLater(named: unknown, block: number): boolean {
  return typeof named === 'string' && /^0x[0-9a-f]+$/.test(named) && Number(named) > block;
}

function toHex(block: number): string {
  return `0x${block.toString(16)}`;
}
