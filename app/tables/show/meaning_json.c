/* SPDX-License-Identifier: BSD-3-Clause */
/* What words mean, for programs. */
#include "json/number_json.h"
#include "show/slot.h"
#include "show/meaning_json.h"

static json_t *
log_word_json(const struct netfc_set *set, uint32_t word)
{
	return json_real((double)as_signed(word, 16) / netfc_set_scale(set));
}

static json_t *
mi_key_json(const struct netfc_set *set, uint32_t word)
{
	return json_pack(
		"{s:i, s:o}", "page", (int)(word >> 16), "theta", log_word_json(set, word));
}

static json_t *
decide_key_json(const struct netfc_set *set, uint32_t key)
{
	static const char *const compare[] = {"less", "equal", "greater", "none"};
	const struct netfc_format *format = netfc_set_format(set);

	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:s}", "op",
		netfc_op_name((key >> 8 & 3) + NETFC_ADD), "class_x",
		class_name(format, key >> 6 & 3), "class_y", class_name(format, key >> 4 & 3),
		"x_negative", (int)(key >> 3 & 1), "y_negative", (int)(key >> 2 & 1), "compare",
		compare[key & 3]);
}

static json_t *
decision_json(const struct netfc_set *set, uint32_t word, bool product)
{
	static const char *const source[] = {"stages", "x", "y", "constant"};
	json_t *object = json_pack("{s:s}", "source", source[netfc_decide_source(word)]);

	if (netfc_decide_source(word) == NETFC_FROM_STAGES) {
		if (!product && netfc_set_find_table(set, "mi") != NULL)
			json_object_set_new(object, "page", json_integer(netfc_decide_page(word)));
		json_object_set_new(object, "negative", json_boolean(netfc_decide_sign(word)));
	} else if (netfc_decide_source(word) == NETFC_FROM_CONSTANT) {
		const struct netfc_format *format = netfc_set_format(set);

		json_object_set_new(
			object, "z", encoding_json(format, decided_encoding(format, word)));
		json_object_set_new(object, "flags", flags_json((uint8_t)netfc_decide_flags(word)));
	}
	return object;
}

json_t *
meaning_json(const struct netfc_set *set, enum meaning meaning, uint32_t word)
{
	switch (meaning) {
	case MEANS_NUMBER:
		return encoding_json(netfc_set_format(set), word);
	case MEANS_MI_WORD:
		return word == NETFC_NO_RESULT ? json_string("no result")
					       : log_word_json(set, word);
	case MEANS_LOG_WORD:
		return log_word_json(set, word);
	case MEANS_MI_KEY:
		return mi_key_json(set, word);
	case MEANS_DECIDE_KEY:
		return decide_key_json(set, word);
	case MEANS_DECISION:
	case MEANS_PRODUCT:
		return decision_json(set, word, meaning == MEANS_PRODUCT);
	case MEANS_FLAGS:
		return flags_json((uint8_t)word);
	case MEANS_BITS:
		break;
	}
	return json_null();
}
