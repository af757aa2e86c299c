/**
 * A proxy in front of a chain's JSON-RPC that can be cut: it closes connections or never answers, for all calls or for
 * chosen ones. Or it gets stuck at a block. So one process has an RPC that is down, hangs or is behind, while all other clients keep using
 * the chain.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from './read-body.ts';
import { askAsOf, type RpcAnswer, type RpcCall } from './stuck-node.ts';

/** `drop` closes the connection without an answer; `hang` keeps it open and never answers. */
export type RpcFault = 'drop' | 'hang';

export type RpcProxy = {
  readonly url: string;
  /** Methods of the calls that the last fault affected, in order. A fault that affected no call proves nothing. */
  readonly affected: readonly string[];
  /** How many calls were answered since the last change of fault. */
  readonly answered: number;
  /** From now on calls meet the fault. @param only - which; default: all */
  cut(fault: RpcFault, only?: (call: RpcCall) => boolean): void;
  /**
   * From now on answers are those of the present block.
   * @param each - 2: every second answer is, as where one node of two got stuck
   */
  getStuck(each: 1 | 2): Promise<void>;
  /** Answers again. The connections of calls that hang are closed. */
  restore(): void;
  stop(): Promise<void>;
};

type Cut = { readonly fault: RpcFault; readonly only: (call: RpcCall) => boolean };

/** @param target - the chain's own address, for example `http://127.0.0.1:8545` */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  let cut: Cut | undefined;
  let stuck: { readonly block: number; readonly each: number } | undefined;
  let turn = 0;
  let affected: string[] = [];
  let answered = 0;
  const hanging = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    forward(request, response).catch(() => {
      response.destroy();
    });
  });

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const call = JSON.parse(body) as RpcCall | RpcCall[];
    const calls = Array.isArray(call) ? call : [call];
    if (cut !== undefined && calls.every(cut.only)) {
      affected.push(...calls.map(({ method }) => method));
      if (cut.fault === 'drop') {
        response.destroy();
      } else {
        hanging.add(response);
      }
      return;
    }
    turn += 1;
    let answer: { readonly status: number; readonly text: string };
    if (stuck === undefined || turn % stuck.each !== 0) {
      answer = await send(body);
    } else {
      const { block } = stuck;
      affected.push(...calls.map(({ method }) => method));
      const answers = await Promise.all(calls.map((one) => askAsOf(block, one, ask)));
      answer = { status: 200, text: JSON.stringify(Array.isArray(call) ? answers : answers[0]) };
    }
    answered += 1;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.text);
  }

  async function send(body: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  }

  async function ask(call: RpcCall): Promise<RpcAnswer> {
    return JSON.parse((await send(JSON.stringify(call))).text) as RpcAnswer;
  }

  function closeHanging(): void {
    for (const response of hanging) {
      response.destroy();
    }
    hanging.clear();
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get affected() {
      return affected;
    },
    get answered() {
      return answered;
    },
    cut(fault, only = () => true) {
      cut = { fault, only };
      affected = [];
      answered = 0;
    },
    async getStuck(each) {
      const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
      const { result } = await ask(call);
      stuck = { block: Number(result), each };
      affected = [];
      answered = 0;
    },
    restore() {
      cut = undefined;
      stuck = undefined;
      answered = 0;
      closeHanging();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
