-- Every key begins with `home`, and every statement names one: it is what a distributed PostgreSQL
-- would share the rows out by. Only what PostgreSQL, Citus and YugabyteDB have in common: no sequence,
-- trigger, foreign key, LISTEN or advisory lock.

-- A workspace: the head of its log, and the lease of the program that may write to it.
create table halma.home (
    home int8 primary key, workspace text not null, created timestamptz not null default now(),
    generation int8 not null default 0, first int8 not null default 1, push bytea, uid int8,
    holder text, request bytea, fence int8 not null, lease_until timestamptz);

-- Programs that wait for the lease, by the time from which they count as waiting.
create table halma.waiter (
    home int8, id bytea, holder text not null, urgent boolean not null, place timestamptz not null,
    seen timestamptz not null, primary key (home, id));

-- The log: opaque bytes, in the order of (generation, seq). `push` remembers what was pushed, so that
-- a push whose commit was not heard of is not done twice. `attempt` is random: two that push the same
-- generation never wait for each other's rows, and the commit of one makes that of the other impossible.
create table halma.segment (
    home int8, generation int8, seq int4, attempt int8, bytes bytea not null,
    primary key (home, generation, seq, attempt));
create table halma.push (
    home int8, id bytea, generation int8 not null, segments int4 not null, bytes int8 not null,
    pushed timestamptz not null default now(), primary key (home, id));
create index push_generation on halma.push (home, generation);

-- The ledger of calls. state: 0 open, 1 taken, 2 done, 3 failed. `due` is when an open one may be taken.
create table halma.call (
    home int8, id bytea, kind int2 not null, state int2 not null default 0, attempts int4 not null default 0,
    fence int8 not null default 0, due timestamptz not null default now(), lease_until timestamptz,
    worker text, input bytea not null, output bytea, error text, primary key (home, id));
create index call_open on halma.call (home, kind, due, id) where state = 0;
create index call_taken on halma.call (home, lease_until) where state = 1;
create table halma.pause (
    home int8, server text, until timestamptz not null, primary key (home, server));
create table halma.worker (
    home int8, name text, started timestamptz not null default now(), seen timestamptz not null,
    primary key (home, name));

-- State of the servers. `clock` is locked by a writer until it commits, so that versions of one kind
-- become visible in their order; a deleted entry keeps its row, without bytes.
create table halma.clock (home int8, kind text, version int8 not null, primary key (home, kind));
create table halma.state (
    home int8, kind text, id text, version int8 not null, bytes bytea, primary key (home, kind, id));
create index state_version on halma.state (home, kind, version);
create table halma.usage (
    home int8, subject text, day int4, questions int8 not null, calls int8 not null,
    cached_calls int8 not null, prompt_tokens int8 not null, completion_tokens int8 not null,
    cost_micros int8 not null, primary key (home, subject, day));

-- A statement that forgot to name its home sees nothing, instead of what belongs to others. One home, because
-- with an array of them an index no longer gives its rows in order, and taking calls reads all of them.
do $$ declare t text; begin
    foreach t in array array['home', 'waiter', 'segment', 'push', 'call', 'pause', 'worker', 'clock', 'state', 'usage'] loop
        execute format('alter table halma.%I enable row level security', t);
        execute format('alter table halma.%I force row level security', t);
        execute format('create policy own on halma.%I using (home = nullif(current_setting(''halma.home'', true), '''')::int8)', t);
    end loop;
end $$;
