-- The load of one case. Arguments: path, key, header, first number. A # in the path becomes a number that no
-- other request of the bench has.
local started = 0

function setup(thread)
  thread:set("share", started * 50000000)
  started = started + 1
end

function init(args)
  local path, key, header, from = args[1], args[2], args[3], tonumber(args[4]) + share
  if key ~= "" then wrk.headers["Authorization"] = "Bearer " .. key end
  local name, value = header:match("^([^:]+): (.*)$")
  if name then wrk.headers[name] = value end
  if not path:find("#") then
    local same = wrk.format("GET", path)
    request = function() return same end
    return
  end
  local before, after = path:match("^(.*)#(.*)$")
  request = function()
    from = from + 1
    return wrk.format("GET", before .. string.format("%d", from) .. after)
  end
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format("result %d %d %d %d %d\n", summary.requests, summary.duration, summary.bytes,
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
