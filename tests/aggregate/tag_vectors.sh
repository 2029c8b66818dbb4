#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Print tag_vectors.h: tags computed by OpenSSL's command line (3.0 or newer).
#
#   tests/aggregate/tag_vectors.sh >tests/aggregate/tag_vectors.h
#
# The cluster's key is 00 01 .. 1f; byte i of a payload is 7 i + 3 mod 256.
set -eu

hex() {
	od -An -v -tx1 | tr -d ' \n:'
}

# derive INFO: 32 bytes, in hexadecimal digits
derive() {
	openssl kdf -binary -keylen 32 -kdfopt digest:SHA256 -kdfopt hexinfo:"$1" \
		-kdfopt hexkey:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f \
		-kdfopt salt:"netfc aggregation" HKDF | hex
}

# payload BYTES
payload() {
	LC_ALL=C awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%02x", (7 * i + 3) % 256 }'
}

binary() {
	python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'
}

# tag KEYS BYTES HIGH
tag() {
	digest=$(payload "$2" | cut -c49- | binary | openssl mac -cipher AES-128-GCM \
		-macopt hexkey:"$(echo "$1" | cut -c1-32)" \
		-macopt hexiv:000000000000000000000000 -in - GMAC)
	{
		payload 24
		echo "$digest"
		printf '%08x' "$3"
	} | binary | openssl mac -macopt hexkey:"$(echo "$1" | cut -c33-64)" -macopt size:8 \
		-in - SIPHASH | tr A-F a-f
}

# vectors NAME INFO
vectors() {
	keys=$(derive "$2")
	for bytes in 24 25 39 40 41 72 1472 8972; do
		for high in 0 2147483649; do
			printf '\t{%s, %s, %s, 0x%s},\n' "$1" "$bytes" "${high}u" \
				"$(tag "$keys" "$bytes" "$high")"
		done
	done
}

echo "/* SPDX-License-Identifier: BSD-3-Clause */"
echo "/* Printed by tag_vectors.sh. */"
echo "static const struct vector vectors[] = {"
join=6a6f696e
session=73657373696f6e
vectors JOIN_TO_SWITCH "${join}00"
vectors JOIN_TO_WORKERS "${join}01"
vectors SESSION_TO_SWITCH "${session}0012340123456789abcdef"
vectors SESSION_TO_WORKERS "${session}0112340123456789abcdef"
echo "};"
