#!/bin/sh
# Runs once, when the server's directory is empty: one database and one user for each of platform, gate and the queue of proofs.
set -eu
create() { # create <user> <database> <file of the password>
  psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
    --set=user="$1" --set=database="$2" --set=password="$(cat "$POOL_PASSWORDS/$3")" <<'SQL'
create role :"user" login password :'password';
create database :"database" owner :"user" encoding 'UTF8' template template0;
revoke connect on database :"database" from public;
SQL
}
create pool_platform pool_platform platform-database-password
create pool_gate pool_gate gate-database-password
create pool_prover pool_proofs queue-password
