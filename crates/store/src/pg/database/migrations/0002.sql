-- What a call quotes, as numbers of keys that are not in the database, so that the calls about a document are
-- found when it is deleted. Calls from before have none, and go with any document.
alter table halma.call add column about int4[] not null default '{}';
