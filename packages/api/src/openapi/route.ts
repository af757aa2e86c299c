/**
 * What a route is, as data: method, path, credential, inputs and every answer it can give. Documents, the
 * typed client and the fuzzer all read these descriptions, over the schemas that the routes themselves use.
 *
 * @module
 */

import { type CodeOf, coreErrors, type ErrorBody } from '@pool/core';
import type * as v from 'valibot';
import { errors } from '../errors.ts';

/** The groups of codes that routes answer. */
export const apiErrors = [...coreErrors, ...errors] as const;

export type ApiErrorCode = CodeOf<(typeof apiErrors)[number]>;

/** A JSON object whose fields are read by name. */
export type JsonObject = { readonly [name: string]: unknown };

export type RouteAuth = {
  /** Name of one of the document's security schemes. */
  readonly scheme: string;
  /** Another scheme whose credentials the route takes as well. */
  readonly orScheme?: string;
  /** What the credential must be allowed to do, in words: a capability or a scope. */
  readonly needs?: string;
};

export type RouteAnswerSchema = {
  readonly description: string;
  readonly schema: v.GenericSchema;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** With a `Set-Cookie` header. */
  readonly setsCookie?: true;
};

export type Route = {
  /** Unique in its document. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for each of `params`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Absent: the route needs no credential. */
  readonly auth?: RouteAuth;
  readonly params?: v.ObjectEntries;
  readonly query?: v.ObjectEntries;
  /** Besides `authorization` and `content-type`; names in lower case. */
  readonly headers?: v.ObjectEntries;
  readonly body?: v.GenericSchema;
  /** Default: `application/json`. */
  readonly bodyType?: 'application/json' | 'application/x-www-form-urlencoded';
  /** Answers with a body of their own, by status. */
  readonly answers: Readonly<Record<number, RouteAnswerSchema>>;
  /** Codes of `{code, message}` answers, by status. */
  readonly errors: Readonly<Record<number, readonly ApiErrorCode[]>>;
};

/** A request of a route and answers to it, as they travel. Every value fits its schema: a test holds that. */
export type RouteExample = {
  /** Of path, query and header, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Bodies by status, those of errors included. */
  readonly answers?: Readonly<Record<number, unknown>>;
};

/** The body of an error. */
export function refusal(code: ApiErrorCode, message: string): ErrorBody {
  return { code, message };
}

export type SecurityScheme = Readonly<Record<string, string>>;

/** Everything one service says about itself. */
export type Api = {
  /** File name of its document. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  /** Schemas that the document names once and refers to. */
  readonly schemas: Readonly<Record<string, v.GenericSchema>>;
  readonly routes: readonly Route[];
  /** By the id of a route. */
  readonly examples: Readonly<Record<string, RouteExample>>;
};

type RouteDefinition = Omit<Route, 'id' | 'method' | 'path'> & {
  /** Method and path. */
  readonly at: `${Route['method']} /${string}`;
};

/** The routes by id. The types of their schemas are kept: {@link RouteInput} and {@link RouteAnswer} infer from them. */
export function defineRoutes<const T extends Readonly<Record<string, RouteDefinition>>>(
  routes: T,
): { readonly [Id in keyof T]: Omit<T[Id], 'at'> & Pick<Route, 'id' | 'method' | 'path'> } {
  const entries = Object.entries(routes).map(([id, { at, ...route }]) => {
    const [method, path] = at.split(' ');
    return [id, { ...route, id, method, path }];
  });
  return Object.fromEntries(entries) as ReturnType<typeof defineRoutes<T>>;
}

/** The scheme of a bearer credential. */
export function bearer(description: string): SecurityScheme {
  return { type: 'http', scheme: 'bearer', description };
}

type EntriesInput<T> = T extends v.ObjectEntries
  ? v.InferInput<v.ObjectSchema<T, undefined>>
  : never;
type Part<R, Name extends keyof Route> = R extends { readonly [K in Name]: infer T }
  ? T extends v.ObjectEntries
    ? { readonly [K in Name]: EntriesInput<T> }
    : unknown
  : unknown;

/** The input of a caller of the route. */
export type RouteInput<R extends Route> = Part<R, 'params'> &
  Part<R, 'query'> &
  Part<R, 'headers'> &
  (R extends { readonly body: infer T extends v.GenericSchema }
    ? { readonly body: v.InferInput<T> }
    : unknown);

/** Every documented answer, distinguished by `status`. */
export type RouteAnswer<R extends Route> =
  | {
      [S in keyof R['answers'] & number]: {
        readonly status: S;
        readonly body: v.InferOutput<R['answers'][S]['schema']>;
      };
    }[keyof R['answers'] & number]
  | {
      [S in keyof R['errors'] & number]: {
        readonly status: S;
        readonly body: ErrorBody & { readonly code: R['errors'][S][number] };
      };
    }[keyof R['errors'] & number];
