-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector for NetFC's aggregation, on UDP ports 20040 to 20047 or what the preferences say.
--
--   tshark -X lua_script:packaging/wireshark/netfc_aggregation.lua -r capture.pcap -V
--
-- docs/protocol.md describes the protocol. Works with the Lua of every Wireshark.

local aggregation = Proto("netfc_aggregation", "NetFC aggregation")

local UDP_PORTS = "20040-20047"
local MAGIC = 0x4e46
local HEADER_BYTES = 24
local JOIN_BYTES = 24
local PLACE_BYTES = 12 -- and two for each level
local PART_BYTES = 8 -- and the digits
local JOIN, COPY, LEAVE = 32, 37, 40
local CODE, MISSING, OWNER, DIGITS = 7, 64, 64, 128
local MOST_LEVELS, MOST_TREE_WORKERS = 4, 2 ^ 24
local LABELLED = 1 -- the status of a copy of nothing, with the label of the call that it begins
local OF_ZEROS = 2 -- the status of a chunk whose values are all +0: a header alone
local HAS_MARKS = 128 -- in a part's width
local HAS_DIVISOR = 128 -- in a part's number of parts
local DIVISOR_BYTES, MOST_DIVISOR = 4, 2 ^ 24
local LEVEL = 16 -- in an absence: this times the level that the worker is a member at

local OPS = {
    [JOIN] = "join", [33] = "sum", [34] = "mean", [35] = "min", [36] = "max", [COPY] = "copy",
    [LEAVE] = "leave",
}
local FORMATS = {
    [0] = "none", [1] = "fp16", [2] = "posit16", [3] = "bf16", [4] = "posit16_es2", [5] = "fp32",
    [6] = "int32", [7] = "fp64", [8] = "fp8_e4m3", [9] = "fp8_e5m2", [10] = "int64",
    -- Results have another format than the values: it is in the upper four bits.
    [0x51] = "fp16:fp32", [0x53] = "bf16:fp32",
    [0x18] = "fp8_e4m3:fp16", [0x38] = "fp8_e4m3:bf16", [0x58] = "fp8_e4m3:fp32",
    [0x19] = "fp8_e5m2:fp16", [0x39] = "fp8_e5m2:bf16", [0x59] = "fp8_e5m2:fp32",
}
local BYTES = {[5] = 4, [6] = 4, [7] = 8, [8] = 1, [9] = 1, [10] = 8}  -- of a value; all others 2
local CODES = {
    [0] = "ok", [1] = "version", [2] = "op", [3] = "format", [4] = "length", [5] = "query",
    [6] = "lanes", [CODE] = "aggregation",
}
local REASONS = {
    [0] = "none", [1] = "off", [2] = "waiting", [3] = "no-job", [4] = "mismatch", [5] = "full",
    [6] = "window", [8] = "cookie", [9] = "failed", [10] = "loop", [11] = "place",
    [12] = "no-parent", [13] = "parent", [14] = "taken", [15] = "digits", [16] = "no-slots",
}
-- What the values of a result are.
local KINDS = {
    [0] = "results", [1] = "sums", [2] = "acknowledgement", [3] = "zeros",
}
-- Why a worker's values are missing.
local ABSENCES = {
    [0] = "is silent", [1] = "is late", [2] = "has left", [3] = "has failed",
}
-- Of a lane's sum, a set.
local MARKS = {{1, "NaN"}, {2, "+infinity"}, {4, "-infinity"}, {8, "all -0"}}

local fields = {
    magic = ProtoField.uint16("netfc_aggregation.magic", "Magic", base.HEX),
    version = ProtoField.uint8("netfc_aggregation.version", "Version"),
    op = ProtoField.uint8("netfc_aggregation.op", "Operation", base.DEC, OPS),
    format = ProtoField.uint8("netfc_aggregation.format", "Format", base.DEC, FORMATS),
    status = ProtoField.uint8("netfc_aggregation.status", "Status", base.HEX),
    reply = ProtoField.bool("netfc_aggregation.status.reply", "Reply", 8, nil, 0x80),
    code = ProtoField.uint8("netfc_aggregation.status.code", "Code", base.DEC, CODES, 0x70),
    flags = ProtoField.uint8("netfc_aggregation.status.flags", "Exception flags", base.HEX, nil, 0x0f),
    count = ProtoField.uint16("netfc_aggregation.count", "Values"),
    id = ProtoField.uint32("netfc_aggregation.id", "Chunk"),
    job = ProtoField.uint16("netfc_aggregation.job", "Job"),
    worker = ProtoField.uint8("netfc_aggregation.worker", "Worker"),
    reason = ProtoField.uint8("netfc_aggregation.reason", "Reason"),
    owner = ProtoField.uint8("netfc_aggregation.owner", "Owner"),
    kind = ProtoField.uint8("netfc_aggregation.kind", "Kind", base.DEC, KINDS),
    token = ProtoField.uint64("netfc_aggregation.token", "Token", base.HEX),
    session = ProtoField.uint64("netfc_aggregation.session", "Session", base.HEX),
    absence = ProtoField.uint8("netfc_aggregation.absence", "Worker", base.DEC, ABSENCES, 0x0f),
    level = ProtoField.uint8("netfc_aggregation.level", "Member at level", base.DEC, nil, 0xf0),
    detail = ProtoField.uint8("netfc_aggregation.detail", "Detail"),
    workers = ProtoField.uint8("netfc_aggregation.join.workers", "Workers"),
    shards = ProtoField.uint8("netfc_aggregation.join.shards", "Shards"),
    slots = ProtoField.uint16("netfc_aggregation.join.slots", "Slots"),
    bytes = ProtoField.uint16("netfc_aggregation.join.bytes", "Bytes of values in a chunk"),
    cookie = ProtoField.uint64("netfc_aggregation.join.cookie", "Cookie", base.HEX),
    incarnation = ProtoField.uint64("netfc_aggregation.join.incarnation", "Incarnation", base.HEX),
    label = ProtoField.uint32("netfc_aggregation.label", "Label", base.HEX),
    labels = ProtoField.bool("netfc_aggregation.join.labels", "Labels", 8, nil, 0x01),
    leaf = ProtoField.bool("netfc_aggregation.join.leaf", "Leaf", 8, nil, 0x02),
    of_zeros = ProtoField.bool("netfc_aggregation.zeros", "Zeros", 8, nil, OF_ZEROS),
    zeros = ProtoField.bool("netfc_aggregation.join.zeros", "Zeros", 8, nil, 0x04),
    divisors = ProtoField.bool("netfc_aggregation.join.divisors", "Divisors", 8, nil, 0x08),
    levels = ProtoField.uint8("netfc_aggregation.place.levels", "Switches above"),
    decided = ProtoField.uint8("netfc_aggregation.place.decided", "Decided at level, and 1"),
    all_workers = ProtoField.uint32("netfc_aggregation.place.workers", "Workers of the tree"),
    below = ProtoField.uint32("netfc_aggregation.place.below", "Workers below"),
    member = ProtoField.string("netfc_aggregation.place.member", "Member"),
    digits = ProtoField.bool("netfc_aggregation.digits", "Digits", 8, nil, DIGITS),
    first = ProtoField.uint16("netfc_aggregation.part.first", "First lane"),
    lanes = ProtoField.uint16("netfc_aggregation.part.lanes", "Lanes"),
    part = ProtoField.uint8("netfc_aggregation.part", "Part"),
    parts = ProtoField.uint8("netfc_aggregation.part.parts", "Parts"),
    divisor = ProtoField.uint32("netfc_aggregation.part.divisor", "Divisor"),
    lowest = ProtoField.uint8("netfc_aggregation.part.lowest", "Lowest digit"),
    width = ProtoField.uint8("netfc_aggregation.part.width", "Digits of a lane", base.DEC, nil, 0x7f),
    sum = ProtoField.bytes("netfc_aggregation.sum", "Sum"),
    value = ProtoField.bytes("netfc_aggregation.value", "Value"),
    float = ProtoField.float("netfc_aggregation.float", "Value"),
    integer = ProtoField.int32("netfc_aggregation.integer", "Value"),
    double = ProtoField.double("netfc_aggregation.double", "Value"),
    long = ProtoField.int64("netfc_aggregation.long", "Value"),
}
aggregation.fields = fields
local NUMBERS = {
    [5] = fields.float, [6] = fields.integer, [7] = fields.double, [10] = fields.long,
}

local experts = {
    refused = ProtoExpert.new("netfc_aggregation.expert.refused", "Refused",
        expert.group.RESPONSE_CODE, expert.severity.NOTE),
    limited = ProtoExpert.new("netfc_aggregation.expert.limited",
        "Packet size limited during capture", expert.group.UNDECODED, expert.severity.NOTE),
    cut = ProtoExpert.new("netfc_aggregation.expert.cut", "Values are missing",
        expert.group.MALFORMED, expert.severity.ERROR),
    part = ProtoExpert.new("netfc_aggregation.expert.part", "No part that can be",
        expert.group.MALFORMED, expert.severity.ERROR),
}
aggregation.experts = experts

aggregation.prefs.ports = Pref.range("UDP ports", UDP_PORTS, "Ports of the shards", 65535)

local function reason_name(reason, absence)
    if reason >= MISSING then
        local level = math.floor((absence or 0) / LEVEL)
        local who = level == 0 and "worker " .. (reason - MISSING)
            or "member " .. (reason - MISSING) .. " at level " .. level
        return who .. " " .. (absence and ABSENCES[absence % LEVEL] or "is missing")
    end
    return REASONS[reason] or "unknown reason " .. reason
end

-- Where a reply says what a worker's values are missing for: in the values, or without any in count.
-- nil if it is refused for something else.
local function absence_at(buffer)
    local status = buffer(5, 1):uint()
    local is_reason = status >= 0x80 and math.floor(status % 0x80 / 16) == CODE

    if not is_reason or buffer(15, 1):uint() < MISSING then
        return nil
    end
    if buffer:reported_len() > HEADER_BYTES then
        return buffer:len() > HEADER_BYTES and HEADER_BYTES or nil
    end
    return 6
end

local function add_absence(buffer, tree, at)
    tree:add(fields.absence, buffer(at, 1))
    if buffer(at, 1):uint() >= LEVEL then
        tree:add(fields.level, buffer(at, 1))
    end
    if buffer:len() > at + 1 then
        tree:add(fields.detail, buffer(at + 1, 1))
    end
end

-- Whether it is a chunk's request, with a part of exact sums in the values' place.
local function has_digits(buffer)
    local op = buffer(3, 1):uint()
    local asks = buffer(5, 1):uint() < 0x80

    return asks and op ~= JOIN and op ~= LEAVE and buffer(15, 1):uint() >= DIGITS
end

-- Byte 15: of a chunk's request its owner and whether it has digits, of a result what its values are, of a
-- join's request or grant what its sender knows, else a reason.
local function add_reason(buffer, tree, name)
    local status, reason, op = buffer(5, 1):uint(), buffer(15, 1):uint(), buffer(3, 1):uint()
    local is_chunk = op ~= JOIN and op ~= LEAVE

    if is_chunk and status < 0x80 and reason >= OWNER then
        if reason >= DIGITS then
            tree:add(fields.digits, buffer(15, 1))
        end
        if reason % DIGITS >= OWNER then
            tree:add(fields.owner, buffer(15, 1), reason % DIGITS - OWNER)
        end
    elseif is_chunk and status >= 0x80 and status % 0x80 < 16 then
        tree:add(fields.kind, buffer(15, 1))
    elseif op == JOIN and status % 0x80 < 16 then
        tree:add(fields.labels, buffer(15, 1))
        tree:add(fields.leaf, buffer(15, 1))
        tree:add(fields.zeros, buffer(15, 1))
        tree:add(fields.divisors, buffer(15, 1))
    else
        tree:add(fields.reason, buffer(15, 1)):append_text(" (" .. name .. ")")
    end
end

-- Whether it is a chunk's request whose values are all +0, and are not there.
local function is_of_zeros(buffer)
    local op, status = buffer(3, 1):uint(), buffer(5, 1):uint()

    return op ~= JOIN and op ~= LEAVE and status < 0x80 and math.floor(status / OF_ZEROS) % 2 == 1
end

-- Whether there are values behind the header: a copy's are its owner's, or of a result.
local function has_values(buffer)
    local status, reason, op = buffer(5, 1):uint(), buffer(15, 1):uint(), buffer(3, 1):uint()

    if status >= 0x80 and status % 0x80 < 16 then
        return reason ~= 2 and reason ~= 3
    end
    return op ~= COPY or buffer:reported_len() > HEADER_BYTES
end

-- Levels of the place behind a join; nil if none stands there that can be: it may be a tag.
local function levels_of(buffer, at)
    if buffer:len() < at + PLACE_BYTES then
        return nil
    end
    local levels, workers = buffer(at, 1):uint(), buffer(at + 4, 4):uint()
    local has_room = buffer:len() >= at + PLACE_BYTES + 2 * levels
    if levels > MOST_LEVELS or workers == 0 or workers > MOST_TREE_WORKERS or not has_room then
        return nil
    end
    for level = at + PLACE_BYTES, at + PLACE_BYTES + 2 * levels - 2, 2 do
        if buffer(level + 1, 1):uint() >= buffer(level, 1):uint() then
            return nil
        end
    end
    return levels
end

local function add_place(buffer, tree, at)
    local levels = levels_of(buffer, at)
    if not levels then
        return
    end
    tree:add(fields.levels, buffer(at, 1))
    tree:add(fields.decided, buffer(at + 1, 1))
    tree:add(fields.all_workers, buffer(at + 4, 4))
    tree:add(fields.below, buffer(at + 8, 4))
    for level = 1, levels do
        local range = buffer(at + PLACE_BYTES + 2 * level - 2, 2)
        tree:add(fields.member, range, range(1, 1):uint() .. " of " .. range(0, 1):uint()
            .. " at level " .. level)
    end
end

-- Complains of a packet that is too short; not of one that was cut while it was captured.
local function add_cut(buffer, tree, needed)
    if buffer:reported_len() < needed then
        tree:add_proto_expert_info(experts.cut)
    end
end

local function add_join(buffer, tree, granted)
    if buffer:len() < HEADER_BYTES + JOIN_BYTES then
        add_cut(buffer, tree, HEADER_BYTES + JOIN_BYTES)
        return
    end
    tree:add(fields.workers, buffer(24, 1))
    tree:add(fields.shards, buffer(25, 1))
    tree:add(fields.slots, buffer(26, 2))
    tree:add(fields.bytes, buffer(28, 2))
    tree:add(granted and fields.session or fields.cookie, buffer(32, 8))
    tree:add(fields.incarnation, buffer(40, 8))
    add_place(buffer, tree, HEADER_BYTES + JOIN_BYTES)
end

local function mark_names(marks)
    local names = {}

    for _, mark in ipairs(MARKS) do
        if math.floor(marks / mark[1]) % 2 == 1 then
            table.insert(names, mark[2])
        end
    end
    return table.concat(names, ", ")
end

-- The lanes' digits, most significant first, and behind all of them the lanes' marks.
local function add_sums(body, tree, first, lanes, width)
    local size, marks_at = 4 * width, 4 * width * lanes

    for lane = 0, lanes - 1 do
        local item = tree:add(fields.sum, body(lane * size, size))
        local marks = body:len() > marks_at and body(marks_at + lane, 1):uint() or 0
        item:append_text(" (lane " .. first + lane
            .. (marks > 0 and ", " .. mark_names(marks) or "") .. ")")
    end
end

local function add_divisor(bytes, tree)
    local item = tree:add(fields.divisor, bytes)

    if bytes:uint() == 0 or bytes:uint() > MOST_DIVISOR then
        item:add_proto_expert_info(experts.part)
    end
end

local function add_part(buffer, tree)
    if buffer:len() < HEADER_BYTES + PART_BYTES then
        add_cut(buffer, tree, HEADER_BYTES + PART_BYTES)
        return
    end
    local at, bits = HEADER_BYTES + PART_BYTES, buffer(31, 1):uint()
    local first, lanes = buffer(24, 2):uint(), buffer(26, 2):uint()
    local number, parts = buffer(28, 1):uint(), buffer(29, 1):uint() % HAS_DIVISOR
    local width, has_marks = bits % HAS_MARKS, bits >= HAS_MARKS
    local bytes = lanes * (4 * width + (has_marks and 1 or 0))
    local behind = buffer(29, 1):uint() >= HAS_DIVISOR and DIVISOR_BYTES or 0

    tree:add(fields.first, buffer(24, 2))
    tree:add(fields.lanes, buffer(26, 2))
    tree:add(fields.part, buffer(28, 1))
    tree:add(fields.parts, buffer(29, 1), parts)
    tree:add(fields.lowest, buffer(30, 1))
    tree:add(fields.width, buffer(31, 1))
    if lanes == 0 or width == 0 or number >= parts then
        tree:add_proto_expert_info(experts.part)
    elseif buffer:len() < at + bytes + behind then
        add_cut(buffer, tree, at + bytes + behind)
    else
        add_sums(buffer(at, bytes), tree, first, lanes, width)
        if behind > 0 then
            add_divisor(buffer(at + bytes, behind), tree)
        end
    end
end

-- Of what is behind the header: results or values.
local function format_of(buffer)
    local format, status = buffer(4, 1):uint(), buffer(5, 1):uint()

    if format >= 16 and status >= 0x80 and status % 0x80 < 16 then
        return math.floor(format / 16)
    end
    return format % 16
end

local function add_values(buffer, tree, format, count)
    local size, field = BYTES[format] or 2, NUMBERS[format] or fields.value

    for v = 0, count - 1 do
        local at = HEADER_BYTES + v * size
        if at + size > buffer:len() then
            add_cut(buffer, tree, HEADER_BYTES + count * size)
            return
        end
        tree:add(field, buffer(at, size))
    end
end

local function summary(op, format, count, id, job, worker, status, reason, absence)
    local text = (OPS[op] or "op " .. op) .. " job " .. job .. " worker " .. worker
    if op ~= JOIN and op ~= LEAVE then
        text = text .. " chunk " .. id .. ", " .. count .. " " .. (FORMATS[format] or "values")
    end
    if status < 0x80 and op ~= JOIN and op ~= LEAVE then
        text = text .. (reason >= DIGITS and ", digits" or "")
            .. (math.floor(status / OF_ZEROS) % 2 == 1 and ", zeros" or "")
        if reason % DIGITS >= OWNER then
            text = text .. ", worker " .. (reason % DIGITS - OWNER) .. "'s"
        end
    end
    if status < 0x80 then
        return text .. ", request"
    end
    local code = math.floor(status % 0x80 / 16)
    if code == CODE then
        return text .. ", reply: " .. reason_name(reason, absence)
    end
    if code == 0 and op ~= JOIN and op ~= LEAVE and reason > 0 then
        return text .. ", reply: " .. (KINDS[reason] or "unknown kind " .. reason)
    end
    return text .. (code == 0 and ", reply" or ", reply: error " .. (CODES[code] or code))
end

function aggregation.dissector(buffer, pinfo, root)
    if buffer:len() < HEADER_BYTES or buffer(0, 2):uint() ~= MAGIC then
        return 0
    end
    local op, format = buffer(3, 1):uint(), buffer(4, 1):uint()
    local status, reason = buffer(5, 1):uint(), buffer(15, 1):uint()
    local count = buffer(6, 2):uint()
    local at = absence_at(buffer)
    local absence = at and buffer(at, 1):uint()
    local tree = root:add(aggregation, buffer())
    local text = summary(op, format, count, buffer(8, 4):uint(), buffer(12, 2):uint(),
        buffer(14, 1):uint(), status, reason, absence)

    local is_limited = buffer:len() < buffer:reported_len()
    if is_limited then
        text = text .. ", packet size limited during capture"
    end
    pinfo.cols.protocol = "NetFC-A"
    pinfo.cols.info = text
    tree:append_text(": " .. text)
    tree:add(fields.magic, buffer(0, 2))
    tree:add(fields.version, buffer(2, 1))
    tree:add(fields.op, buffer(3, 1))
    tree:add(fields.format, buffer(4, 1))
    local status_tree = tree:add(fields.status, buffer(5, 1))
    status_tree:add(fields.reply, buffer(5, 1))
    status_tree:add(fields.code, buffer(5, 1))
    status_tree:add(fields.flags, buffer(5, 1))
    tree:add(fields.count, buffer(6, 2))
    tree:add(fields.id, buffer(8, 4))
    tree:add(fields.job, buffer(12, 2))
    tree:add(fields.worker, buffer(14, 1))
    add_reason(buffer, tree, reason_name(reason, absence))
    tree:add(op == JOIN and fields.token or fields.session, buffer(16, 8))
    if status >= 0x80 and status % 0x80 >= 16 then
        tree:add_proto_expert_info(experts.refused)
    end
    if op == JOIN then
        add_join(buffer, tree, status >= 0x80 and status % 0x80 < 16)
    elseif absence then
        add_absence(buffer, tree, at)
    elseif is_of_zeros(buffer) then
        status_tree:add(fields.of_zeros, buffer(5, 1))
    elseif has_digits(buffer) then
        add_part(buffer, tree)
    elseif op == COPY and status == LABELLED and buffer:len() >= HEADER_BYTES + 4 then
        tree:add(fields.label, buffer(HEADER_BYTES, 4))
    elseif has_values(buffer) then
        add_values(buffer, tree, format_of(buffer), count)
    end
    if is_limited then
        tree:add_proto_expert_info(experts.limited)
    end
    return buffer:len()
end

local function register()
    DissectorTable.get("udp.port"):add(aggregation.prefs.ports, aggregation)
end

function aggregation.prefs_changed()
    DissectorTable.get("udp.port"):remove_all(aggregation)
    register()
end

register()
