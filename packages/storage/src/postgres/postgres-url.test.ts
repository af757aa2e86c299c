import { describe, expect, it } from 'vitest';
import { parsePostgresUrl } from './postgres-url.ts';

describe('DATABASE_URL', () => {
  it('contains host, port, database, user and password, with escapes', () => {
    const settings = parsePostgresUrl('postgres://pool:p%40ss%2Fw@db.example:6432/pool%20one');
    if (typeof settings === 'string') throw new Error(settings);
    const { password, ...rest } = settings;
    expect(password?.reveal()).toBe('p@ss/w');
    expect(rest).toEqual({
      host: 'db.example',
      port: 6432,
      database: 'pool one',
      user: 'pool',
      tls: true,
      caFile: undefined,
      isLocal: false,
    });
  });

  it.each([
    ['postgresql://u@127.0.0.1/d', { host: '127.0.0.1', port: 5432, tls: false, isLocal: true }],
    ['postgres://u@[::1]:1/d', { host: '::1', port: 1, tls: false, isLocal: true }],
    ['postgres://u@localhost/d?sslmode=verify-full', { tls: true, isLocal: true }],
    ['postgres://u@%2Frun%2Fpostgresql/d', { host: '/run/postgresql', tls: false, isLocal: true }],
    ['postgres://u@10.0.0.1/d', { tls: true, isLocal: false }],
    ['postgres://u@10.0.0.1/d?sslmode=disable', { tls: false, isLocal: false }],
    ['postgres://u@db/d?sslrootcert=/etc/ca.pem', { tls: true, caFile: '/etc/ca.pem' }],
  ])('is encrypted and checked unless the server is on this machine: %s', (text, expected) => {
    expect(parsePostgresUrl(text)).toMatchObject(expected);
  });

  it.each([
    ['CANARY', 'must be postgres://'],
    ['mysql://CANARY:CANARY@h/d', 'must be postgres://'],
    ['postgres://h/CANARY', 'host, user and database are required'],
    ['postgres://CANARY@h', 'host, user and database are required'],
    ['postgres://CANARY@h/a/b', 'host, user and database are required'],
    ['postgres://u:CANARY%ZZ@h/d', 'special characters'],
    ['postgres://u:CANARY@h/d#CANARY', 'special characters'],
    ['postgres://u:CANARY@h/d?sslmode=require', 'do not check who answers'],
    ['postgres://u:CANARY@h/d?sslmode=prefer', 'do not check who answers'],
    ['postgres://u:CANARY@h/d?sslmode=disable&sslrootcert=/CANARY', 'no certificate is checked'],
    ['postgres://u:CANARY@h/d?options=-cCANARY', 'and no others'],
    ['postgres://u:CANARY@h/d?sslmode=disable&sslmode=verify-full', 'once each'],
  ])('reports the problem without any part of the text: %s', (text, problem) => {
    const found = parsePostgresUrl(text);
    expect(found).toContain(problem);
    expect(found).not.toContain('CANARY');
  });
});
