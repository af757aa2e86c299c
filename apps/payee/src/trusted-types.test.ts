import { describe, expect, it } from 'vitest';
import { isOwnScript } from './trusted-types.ts';

const folder = new URL('https://pool.example/payee/');

describe('isOwnScript', () => {
  it.each([
    'assets/wallet-worker-Ab12.js',
    '/payee/assets/x.js',
    'https://pool.example/payee/x.js',
  ])('accepts %s', (url) => {
    expect(isOwnScript(url, folder)).toBe(true);
  });

  it.each([
    'https://other.example/payee/x.js',
    '//other.example/payee/x.js',
    'http://pool.example/payee/x.js',
    '/api/x.js',
    '../x.js',
    'assets/%2e%2e/x.html',
    'assets/x.js?run=evil',
    'data:text/javascript,alert(1)//x.js',
    'blob:https://pool.example/payee/x.js',
    'javascript:alert(1)//x.js',
    'http://[',
  ])('refuses %s', (url) => {
    expect(isOwnScript(url, folder)).toBe(false);
  });
});
