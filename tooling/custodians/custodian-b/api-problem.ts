/**
 * The provider's error answers: `{message, code}`. The documentation gives the codes −1 … −12 of the authentication and 1438; the other
 * numbers here carry no meaning and clients may not rely on them.
 *
 * @module
 */
export type ProblemStatus = 400 | 401 | 404 | 500;

/** Becomes the HTTP answer of a request. */
export class ApiProblemError extends Error {
  readonly #status: ProblemStatus;
  readonly #code: number;

  constructor(status: ProblemStatus, code: number, message: string) {
    super(message);
    this.#status = status;
    this.#code = code;
  }

  get status(): ProblemStatus {
    return this.#status;
  }

  get body(): { readonly message: string; readonly code: number } {
    return { message: this.message, code: this.#code };
  }
}

export function malformed(message: string): ApiProblemError {
  return new ApiProblemError(400, 1400, message);
}

export function notFound(message: string): ApiProblemError {
  return new ApiProblemError(404, 1404, message);
}
