// Reads files of the API and of a dump with DuckDB and prints counts, sums and groups as one JSON object.
//
//	node duckdb.mjs FOLDER_OF_NODE_MODULES FOLDER_OF_FILES
import {createRequire} from 'node:module';

const [modules, files] = process.argv.slice(2);
const {DuckDBInstance} = createRequire(modules + '/')('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:', {threads: '2'});
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowsJson();

// How a file of a format is read: as the README tells users to.
const read = {
  csv: (file) => `read_csv('${file}', all_varchar = false, sample_size = -1, strict_mode = true)`,
  ndjson: (file) => `read_json('${file}', format = 'newline_delimited', sample_size = -1, map_inference_threshold = -1)`,
  parquet: (file) => `read_parquet('${file}')`,
};
const out = {};
for (const f of ['csv', 'ndjson', 'parquet']) {
  const groups = {}; // supplementary sources count only in groups without others
  const list = read[f](`${files}/list.${f}`);
  for (const [name, n, min, max, median] of await rows(`SELECT hardware, count(generation_tps)::INT, min(generation_tps)::DOUBLE, max(generation_tps)::DOUBLE, quantile_cont(generation_tps::DOUBLE, 0.5)
    FROM (SELECT *, bool_and(supplementary) OVER (PARTITION BY hardware) AS alone
      FROM (SELECT *, coalesce(source_key IN (SELECT key FROM read_json('${files}/sources.json') WHERE supplementary), false) AS supplementary
        FROM ${list} WHERE generation_tps IS NOT NULL))
    WHERE NOT supplementary OR alone GROUP BY hardware`)) {
    groups[name] = {N: Number(n), Min: Number(min), Max: Number(max), Median: Number(median)};
  }
  out[`groups of list.${f}`] = groups;
  for (const name of ['models', 'groups']) out[`count of ${name}.${f}`] = Number((await rows(`SELECT count(*)::INT FROM ${read[f](`${files}/${name}.${f}`)}`))[0][0]);
  out[`sum of models.${f}`] = Number((await rows(`SELECT sum(params_b)::DOUBLE FROM ${read[f](`${files}/models.${f}`)}`))[0][0]);
  for (const name of ['benchmarks', 'models', 'hardware', 'tools']) {
    const file = `${files}/dump-${name}.${f}${f === 'parquet' ? '' : '.zst'}`;
    out[`count of dump ${name} ${f}`] = Number((await rows(`SELECT count(*)::INT FROM ${read[f](file)}`))[0][0]);
  }
}
console.log(JSON.stringify(out));
