/**
 * A plain HTTP client of the agent's routes for holders, for the demo and the end-to-end tests.
 *
 * @module
 */
export type AccountAnswer = {
  readonly status: number;
  /** A balance, a receipt, or `{code, message}`. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** Entries of `recipients`; the amount in decimal base units. */
export type Payee = { readonly walletPub: string; readonly amount: string };

export type HolderAccount = {
  balance(token?: string): Promise<AccountAnswer>;
  transfer(key: string, recipients: readonly Payee[], more?: SpendOptions): Promise<AccountAnswer>;
  /** @param to - a label; undefined: the holder's own wallet */
  send(key: string, amount: string, to?: string, more?: SpendOptions): Promise<AccountAnswer>;
};

export type SpendOptions = {
  readonly dryRun?: boolean;
  readonly token?: string;
  /** In place of the role's own key. */
  readonly bearer?: string;
  /** Ends the connection, not the spend. */
  readonly signal?: AbortSignal;
};

/** A spend is proved and waits for finality. */
const timeoutMs = 300_000;

export function createHolderAccount(
  agentUrl: string,
  keys: { readonly read: string; readonly transfer: string; readonly send: string },
): HolderAccount {
  async function call(path: string, init: RequestInit, bearer: string): Promise<AccountAnswer> {
    const response = await fetch(`${agentUrl}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${bearer}` },
      redirect: 'error',
      signal: init.signal ?? AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, body: (await response.json()) as AccountAnswer['body'] };
  }

  function spend(
    operation: 'transfer' | 'send',
    key: string,
    body: object,
    { dryRun, token = 'USDC', bearer = keys[operation], signal }: SpendOptions = {},
  ): Promise<AccountAnswer> {
    return call(
      `/api/${operation}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ token, ...body, ...(dryRun === undefined ? {} : { dryRun }) }),
        ...(signal === undefined ? {} : { signal }),
      },
      bearer,
    );
  }

  return {
    balance: (token = 'USDC') => call(`/api/balance?token=${token}`, {}, keys.read),
    transfer: (key, recipients, more) => spend('transfer', key, { recipients }, more),
    send: (key, amount, to, more) =>
      spend('send', key, { amount, ...(to === undefined ? {} : { to }) }, more),
  };
}
