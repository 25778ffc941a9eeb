#include "config.h"

#include "base/json/schema/json_schema.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_format.h"
#include "tap.h"

static json_t *
parse(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    const char *why = "out of memory";
    if (jsonx_parse(mem, text, strlen(text), 64, &value, &why) != AZ_OK) {
        fprintf(stderr, "test input is not JSON (%s): %s\n", why, text);
        exit(2);
    }
    return value;
}

/* Return the paths of the failures separated by spaces, the whole value as "#"; "" if there are
 * none.
 */
static const char *
failing(TALLOC_CTX *mem, const json_t *schema, const json_t *value)
{
    json_t *failures = NULL, *failure;
    size_t index;
    char *paths = talloc_strdup(mem, "");
    enum az_status status = schema_validate(mem, schema, value, &failures);
    if (status == AZ_SERVER_ERROR)
        return "unsound";
    json_array_foreach (failures, index, failure) {
        const char *path = json_string_value(json_object_get(failure, "path"));
        paths = talloc_asprintf_append(paths, "%s%s", index > 0 ? " " : "", *path ? path : "#");
    }
    return (status == AZ_OK) == (failures == NULL) ? paths : "status and failures differ";
}

static const struct {
    const char *schema;
    const char *value;
    const char *paths; /* of the failures, "" when the value is good */
    const char *name;
} cases[] = {
    {"true",                                                                                         "{\"a\":1}",                                     "",         "true lets everything pass"                                },
    {"false",                                                                                        "1",                                             "#",        "false lets nothing pass"                                  },
    {"{\"$defs\":{\"n\":{\"minimum\":1}},\"items\":{\"$ref\":\"#/$defs/n\"}}",                       "[1,0,2,0]",                                     "/1 /3",
     "$ref: the definition holds in its place"                                                                                                                                                                               },
    {"{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"type\":\"string\"}},\"properties\":{"
     "\"x\":{\"$ref\":\"#/$defs/a\"}}}",                                                        "{\"x\":1}",                                     "/x",       "$ref: a definition that is a reference itself"            },
    {"{\"$defs\":{\"o\":{\"properties\":{\"k\":{}},\"additionalProperties\":false}},"
     "\"additionalProperties\":{\"$ref\":\"#/$defs/o\"}}",                                      "{\"m\":{\"k\":1,\"z\":1}}",                     "/m/z",
     "$ref: additionalProperties looks at the properties of the definition"                                                                                                                                                  },
    {"{\"$defs\":{\"s\":{\"type\":\"string\",\"minLength\":2}},\"anyOf\":["
     "{\"$ref\":\"#/$defs/s\"},{\"type\":\"integer\",\"minimum\":5}]}",                         "3",                                             "#",        "$ref: a branch of another type is not meant"              },
    {"{\"$defs\":{\"s\":{\"type\":\"string\"}},\"anyOf\":[{\"$ref\":\"#/$defs/s\"},{\"const\":3}]}",
     "\"a\"",                                                                                                                                         "",         "$ref: a branch that matches"                              },
    {"{\"$defs\":{\"no\":false},\"properties\":{\"a\":{\"$ref\":\"#/$defs/no\"}}}",                  "{\"a\":1}",
     "/a",                                                                                                                                                        "$ref: a definition may be false"                          },
    {"{\"$defs\":{\"unused\":false}}",                                                               "1",                                             "",
     "$defs: a definition without reference checks nothing"                                                                                                                                                                  },
    {"{\"properties\":{\"$ref\":{\"type\":\"string\"}}}",                                            "{\"$ref\":1}",                                  "/$ref",
     "properties: a member may be called $ref"                                                                                                                                                                               },
    {"{\"const\":{\"$ref\":\"#/$defs/a\"}}",                                                         "{\"$ref\":\"#/$defs/a\"}",                      "",
     "const: what looks like a reference is a value"                                                                                                                                                                         },
    {"{}",                                                                                           "[1,{}]",                                        "",         "an empty schema lets everything pass"                     },

    {"{\"type\":\"object\"}",                                                                        "{}",                                            "",         "type object"                                              },
    {"{\"type\":\"object\"}",                                                                        "[]",                                            "#",        "type object: an array"                                    },
    {"{\"type\":\"array\"}",                                                                         "{}",                                            "#",        "type array: an object"                                    },
    {"{\"type\":\"string\"}",                                                                        "1",                                             "#",        "type string: a number"                                    },
    {"{\"type\":\"integer\"}",                                                                       "1",                                             "",         "type integer"                                             },
    {"{\"type\":\"integer\"}",                                                                       "1.0",                                           "#",        "type integer: a number with a fraction"                   },
    {"{\"type\":\"integer\"}",                                                                       "\"1\"",                                         "#",        "type integer: a string"                                   },
    {"{\"type\":\"number\"}",                                                                        "1",                                             "",         "type number: an integer"                                  },
    {"{\"type\":\"number\"}",                                                                        "1.5",                                           "",         "type number"                                              },
    {"{\"type\":\"number\"}",                                                                        "true",                                          "#",        "type number: a boolean"                                   },
    {"{\"type\":\"boolean\"}",                                                                       "false",                                         "",         "type boolean"                                             },
    {"{\"type\":\"boolean\"}",                                                                       "0",                                             "#",        "type boolean: 0"                                          },
    {"{\"type\":\"null\"}",                                                                          "null",                                          "",         "type null"                                                },
    {"{\"type\":\"null\"}",                                                                          "false",                                         "#",        "type null: false"                                         },
    {"{\"type\":[\"string\",\"null\"]}",                                                             "null",                                          "",         "a list of types: one of them"                             },
    {"{\"type\":[\"string\",\"null\"]}",                                                             "1",                                             "#",        "a list of types: none of them"                            },

    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}",                                               "{\"a\":\"x\",\"b\":1}",                         "",
     "properties: a good member, and one that is not named"                                                                                                                                                                  },
    {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\"}}}",
     "{\"b\":\"x\",\"a\":1}",                                                                                                                         "/a /b",    "properties: each bad member"                              },
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}",                                               "[1]",                                           "",
     "properties say nothing of arrays"                                                                                                                                                                                      },
    {"{\"properties\":{\"a\":{\"properties\":{\"b\":false}}}}",                                      "{\"a\":{\"b\":1}}",                             "/a/b",
     "properties: further in"                                                                                                                                                                                                },
    {"{\"properties\":{\"a/b~c\":false}}",                                                           "{\"a/b~c\":1}",                                 "/a~1b~0c",
     "paths are JSON Pointers (RFC 6901 3)"                                                                                                                                                                                  },

    {"{\"required\":[\"a\",\"b\"]}",                                                                 "{\"a\":null,\"b\":1}",                          "",         "required: all there"                                      },
    {"{\"required\":[\"a\",\"b\"]}",                                                                 "{}",                                            "/a /b",    "required: each that is missing"                           },
    {"{\"required\":[\"a\"]}",                                                                       "\"a\"",                                         "",         "required says nothing of strings"                         },

    {"{\"additionalProperties\":false}",                                                             "{}",                                            "",         "additionalProperties false: no member"                    },
    {"{\"properties\":{\"a\":true},\"additionalProperties\":false}",                                 "{\"a\":1,\"b\":1,\"c\":1}",
     "/b /c",                                                                                                                                                     "additionalProperties false: each member that is not named"},
    {"{\"additionalProperties\":{\"type\":\"integer\"}}",                                            "{\"a\":1,\"b\":\"x\"}",                         "/b",
     "additionalProperties: a schema for them"                                                                                                                                                                               },
    {"{\"properties\":{\"a\":true},\"additionalProperties\":{\"type\":\"integer\"}}",
     "{\"a\":\"x\"}",                                                                                                                                 "",         "additionalProperties leaves named members alone"          },

    {"{\"items\":{\"type\":\"integer\"}}",                                                           "[1,\"a\",2,null]",                              "/1 /3",    "items: each bad item"                                     },
    {"{\"items\":{\"items\":{\"type\":\"integer\"}}}",                                               "[[1],[1,\"a\"]]",                               "/1/1",
     "items: further in"                                                                                                                                                                                                     },
    {"{\"items\":false}",                                                                            "{\"0\":1}",                                     "",         "items say nothing of objects"                             },
    {"{\"minItems\":2}",                                                                             "[1,1]",                                         "",         "minItems: as many"                                        },
    {"{\"minItems\":2}",                                                                             "[1]",                                           "#",        "minItems: one less"                                       },
    {"{\"maxItems\":2}",                                                                             "[1,1]",                                         "",         "maxItems: as many"                                        },
    {"{\"maxItems\":2}",                                                                             "[1,1,1]",                                       "#",        "maxItems: one more"                                       },

    {"{\"uniqueItems\":true}",                                                                       "[1,2,\"1\",[1],{\"a\":1},true,null]",           "",
     "uniqueItems: all differ"                                                                                                                                                                                               },
    {"{\"uniqueItems\":true}",                                                                       "[\"a\",\"b\",\"a\",\"a\"]",                     "/2 /3",
     "uniqueItems: each repetition, not the first"                                                                                                                                                                           },
    {"{\"uniqueItems\":true}",                                                                       "[1,1.0]",                                       "/1",       "uniqueItems: 1 and 1.0 are one value"                     },
    {"{\"uniqueItems\":true}",                                                                       "[{\"a\":1,\"b\":2},{\"b\":2.0,\"a\":1}]",       "/1",
     "uniqueItems: objects without regard to order"                                                                                                                                                                          },
    {"{\"uniqueItems\":false}",                                                                      "[1,1]",                                         "",         "uniqueItems false"                                        },

    {"{\"minLength\":2}",                                                                            "\"\xc3\xa9\xc3\xa9\"",                          "",         "minLength counts code points: as many"                    },
    {"{\"minLength\":2}",                                                                            "\"\xc3\xa9\"",                                  "#",        "minLength: one less, though two octets"                   },
    {"{\"maxLength\":2}",                                                                            "\"\xc3\xa9\xc3\xa9\"",                          "",         "maxLength counts code points: as many"                    },
    {"{\"maxLength\":2}",                                                                            "\"aaa\"",                                       "#",        "maxLength: one more"                                      },
    {"{\"maxLength\":0}",                                                                            "12345",                                         "",         "maxLength says nothing of numbers"                        },
    {"{\"pattern\":\"^[a-z][a-z0-9+.-]*$\"}",                                                        "\"com.example\"",                               "",         "pattern: matches"                                         },
    {"{\"pattern\":\"^[a-z][a-z0-9+.-]*$\"}",                                                        "\"Com\"",                                       "#",        "pattern: does not"                                        },
    {"{\"pattern\":\"^[a-z]+$\"}",                                                                   "\"a\\nb\"",                                     "#",        "pattern: $ is the end, not a line's end"                  },
    {"{\"pattern\":\"b\"}",                                                                          "\"abc\"",                                       "",         "pattern: anywhere unless anchored"                        },

    {"{\"minimum\":1}",                                                                              "1",                                             "",         "minimum: as much"                                         },
    {"{\"minimum\":1}",                                                                              "0",                                             "#",        "minimum: one less"                                        },
    {"{\"minimum\":1}",                                                                              "0.5",                                           "#",        "minimum: a fraction less"                                 },
    {"{\"maximum\":86400}",                                                                          "86400",                                         "",         "maximum: as much"                                         },
    {"{\"maximum\":86400}",                                                                          "86401",                                         "#",        "maximum: one more"                                        },
    {"{\"maximum\":9007199254740992}",                                                               "9007199254740993",                              "#",
     "maximum: one more than a double can tell"                                                                                                                                                                              },
    {"{\"maximum\":1}",                                                                              "\"2\"",                                         "",         "maximum says nothing of strings"                          },

    {"{\"enum\":[\"a\",1,null,{\"b\":[1]}]}",                                                        "\"a\"",                                         "",         "enum: a string"                                           },
    {"{\"enum\":[\"a\",1,null,{\"b\":[1]}]}",                                                        "1.0",                                           "",         "enum: 1.0 is 1"                                           },
    {"{\"enum\":[\"a\",1,null,{\"b\":[1]}]}",                                                        "{\"b\":[1]}",                                   "",         "enum: an object"                                          },
    {"{\"enum\":[\"a\",1]}",                                                                         "\"A\"",                                         "#",        "enum: another case"                                       },
    {"{\"enum\":[\"1\"]}",                                                                           "1",                                             "#",        "enum: a number is no string"                              },
    {"{\"const\":\"a\"}",                                                                            "\"a\"",                                         "",         "const"                                                    },
    {"{\"const\":false}",                                                                            "0",                                             "#",        "const: another type"                                      },

    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}",                                   "1",                                             "",         "anyOf: the second"                                        },
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}",                                   "true",                                          "#",        "anyOf: none"                                              },
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"required\":[\"a\",\"b\"]}]}",
     "{\"a\":1}",                                                                                                                                     "/b",       "anyOf: failures of the one branch that is for this type"  },
    {"{\"anyOf\":[{\"maxLength\":1},{\"pattern\":\"^x\"}]}",                                         "\"abc\"",                                       "#",
     "anyOf: two branches could be meant"                                                                                                                                                                                    },
    {"{\"items\":{\"anyOf\":[{\"const\":1},{\"const\":2}]}}",                                        "[1,3,2]",                                       "/1",       "anyOf: of an item"                                        },

    {"{\"format\":\"uri\"}",                                                                         "\"https://a.example/b\"",                       "",         "format uri"                                               },
    {"{\"format\":\"uri\"}",                                                                         "\"urn:svc:gateway\"",                           "",         "format uri: a URN"                                        },
    {"{\"format\":\"uri\"}",                                                                         "\"/b\"",                                        "#",        "format uri: without scheme"                               },
    {"{\"format\":\"uri\"}",                                                                         "\"https://a b\"",                               "#",        "format uri: a space"                                      },
    {"{\"format\":\"uri\"}",                                                                         "5",                                             "",         "format says nothing of numbers"                           },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/8\"",                                "",         "format cidr: IPv4"                                        },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/32\"",                               "",         "format cidr: IPv4, one address"                           },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/33\"",                               "#",
     "format cidr: one bit too many (policy.md 6.4: OPA then allows)"                                                                                                                                                        },
    {"{\"format\":\"cidr\"}",                                                                        "\"2001:db8::/128\"",                            "",         "format cidr: IPv6"                                        },
    {"{\"format\":\"cidr\"}",                                                                        "\"2001:db8::/129\"",                            "#",        "format cidr: IPv6, one bit too many"                      },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.1\"",                                  "#",        "format cidr: no length"                                   },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/\"",                                 "#",        "format cidr: an empty length"                             },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/08\"",                               "#",        "format cidr: a leading zero"                              },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/-1\"",                               "#",        "format cidr: a sign"                                      },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0.0/8 \"",                               "#",        "format cidr: a space after it"                            },
    {"{\"format\":\"cidr\"}",                                                                        "\"10.0.0/8\"",                                  "#",        "format cidr: three octets"                                },
    {"{\"format\":\"cidr\"}",                                                                        "\"010.0.0.0/8\"",                               "#",        "format cidr: an octal octet"                              },
    {"{\"format\":\"cidr\"}",                                                                        "\"fe80::1%eth0/64\"",                           "#",        "format cidr: a zone"                                      },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"00:00\"",                                     "",         "format hh:mm: the first minute"                           },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"23:59\"",                                     "",         "format hh:mm: the last minute"                            },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"24:00\"",                                     "#",        "format hh:mm: one past it"                                },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"12:60\"",                                     "#",        "format hh:mm: minute 60"                                  },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"7:00\"",                                      "#",        "format hh:mm: one digit"                                  },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"07:00:00\"",                                  "#",        "format hh:mm: seconds"                                    },
    {"{\"format\":\"hh:mm\"}",                                                                       "\"+7:00\"",                                     "#",        "format hh:mm: a sign"                                     },
    {"{\"format\":\"closed-schema\"}",                                                               "{}",                                            "",         "format closed-schema: the empty one"                      },
    {"{\"format\":\"closed-schema\"}",                                                               "{\"$defs\":{\"a\":{}},\"$ref\":\"#/$defs/a\"}", "",
     "format closed-schema: a reference inside"                                                                                                                                                                              },
    {"{\"format\":\"closed-schema\"}",                                                               "{\"$ref\":\"http://10.0.0.1/x\"}",              "#",
     "format closed-schema: a URL, which the engine would fetch"                                                                                                                                                             },
    {"{\"format\":\"closed-schema\"}",
     "{\"properties\":{\"a\":{\"items\":[{\"$ref\":\"file:///etc/passwd\"}]}}}",                                                                      "#",
     "format closed-schema: a file, deep inside"                                                                                                                                                                             },
    {"{\"format\":\"closed-schema\"}",                                                               "{\"$ref\":\"x.json\"}",                         "#",
     "format closed-schema: a relative reference"                                                                                                                                                                            },
    {"{\"format\":\"closed-schema\"}",                                                               "{\"$ref\":\"\"}",                               "#",
     "format closed-schema: an empty reference"                                                                                                                                                                              },
    {"{\"format\":\"closed-schema\"}",                                                               "{\"$id\":\"http://10.0.0.1/x\"}",               "#",
     "format closed-schema: another base"                                                                                                                                                                                    },
    {"{\"format\":\"closed-schema\"}",
     "{\"properties\":{\"id\":{\"type\":\"string\"},\"$ref\":{\"type\":\"string\"}}}",                                                                "",
     "format closed-schema: properties of such names"                                                                                                                                                                        },
    {"{\"format\":\"closed-schema\"}",                                                               "\"$ref\"",                                      "",
     "format closed-schema says nothing of strings"                                                                                                                                                                          },
    {"{\"format\":\"timezone\"}",                                                                    "\"Europe/Berlin\"",                             "",         "format timezone"                                          },
    {"{\"format\":\"timezone\"}",                                                                    "\"UTC\"",                                       "",         "format timezone: UTC"                                     },
    {"{\"format\":\"timezone\"}",                                                                    "\"America/Argentina/Buenos_Aires\"",            "",
     "format timezone: three words"                                                                                                                                                                                          },
    {"{\"format\":\"timezone\"}",                                                                    "\"Etc/GMT+5\"",                                 "",         "format timezone: an offset's name"                        },
    {"{\"format\":\"timezone\"}",                                                                    "\"\"",                                          "#",        "format timezone: empty"                                   },
    {"{\"format\":\"timezone\"}",                                                                    "\"../../../etc/passwd\"",                       "#",        "format timezone: a way out"                               },
    {"{\"format\":\"timezone\"}",                                                                    "\"/etc/localtime\"",                            "#",        "format timezone: an absolute path"                        },
    {"{\"format\":\"timezone\"}",                                                                    "\"Europe//Berlin\"",                            "#",        "format timezone: an empty word"                           },
    {"{\"format\":\"timezone\"}",                                                                    "\"Europe/Berlin/\"",                            "#",        "format timezone: a final slash"                           },
    {"{\"format\":\"timezone\"}",                                                                    "\"zone.tab\"",                                  "#",        "format timezone: a file that is no zone"                  },
    {"{\"format\":\"timezone\"}",                                                                    "\"posix/UTC\"",                                 "#",        "format timezone: not on every host"                       },
    {"{\"format\":\"timezone\"}",                                                                    "\"localtime\"",                                 "#",        "format timezone: this host's own"                         },
};

/* Names that only the tz database can refuse. */
static const struct {
    const char *text;
    const char *name;
} not_zones[] = {
    {"Europe/Berln",  "a misspelt zone (policy.md 6.4: OPA then allows)"},
    {"Europe",        "a folder of zones"                               },
    {"europe/berlin", "another case"                                    },
    {"leapseconds",   "a file of the database that is no zone"          },
};

/* A schema with the definition `a` and one more member. */
#define D(member) "{\"$defs\":{\"a\":{}}," member "}"

static const struct {
    const char *schema;
    const char *name;
} unsound[] = {
    {"1",                                                        "a number"                                                 },
    {"null",                                                     "null"                                                     },
    {"{\"typ\":\"object\"}",                                     "a misspelt keyword"                                       },
    {"{\"oneOf\":[true]}",                                       "a keyword outside the subset"                             },
    {"{\"$ref\":\"#\"}",                                         "a reference to the schema itself"                         },
    {"{\"$ref\":5}",                                             "a reference that is not a string"                         },
    {"{\"$ref\":\"#/$defs/a\"}",                                 "a reference without definitions"                          },
    {D("\"items\":{\"$ref\":\"#/$defs/b\"}"),                    "a reference to no definition"                             },
    {D("\"items\":{\"$ref\":\"#/$defs/\"}"),                     "a reference without name"                                 },
    {D("\"items\":{\"$ref\":\"#/$defs/a/b\"}"),                  "a reference into a definition"                            },
    {D("\"items\":{\"$ref\":\"#/$defs/%61\"}"),                  "a reference with a percent-encoded name"                  },
    {D("\"items\":{\"$ref\":\"#/$defs/~0\"}"),                   "a reference with an escaped name"                         },
    {D("\"items\":{\"$ref\":\"#/properties/a\"}"),               "a reference to another place"                             },
    {D("\"items\":{\"$ref\":\"x.json#/$defs/a\"}"),              "a reference to another schema"                            },
    {D("\"items\":{\"$ref\":\"#/$defs/a\",\"title\":\"t\"}"),
     "a reference with a member beside it"                                                                                  },
    {D("\"items\":{\"$defs\":{}}"),                              "definitions below the top"                                },
    {"{\"$defs\":[]}",                                           "definitions that are no object"                           },
    {"{\"$defs\":{\"a\":1}}",                                    "a definition that is no schema"                           },
    {"{\"$defs\":{\"a\":{\"q\":1}}}",                            "a fault in a definition without reference"                },
    {"{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}}}",             "a definition that is a reference to itself"               },
    {"{\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/a\"}}}}",
     "a definition that contains itself"                                                                                    },
    {"{\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/b\"}},"
     "\"b\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}]}}}",      "two definitions that contain each other"                  },
    {"{\"properties\":{\"a\":{\"maxlength\":1}}}",               "an unknown keyword that no value reaches"                 },
    {"{\"type\":\"int\"}",                                       "an unknown type"                                          },
    {"{\"type\":[]}",                                            "no type"                                                  },
    {"{\"type\":[\"string\",1]}",                                "a type that is no name"                                   },
    {"{\"properties\":[]}",                                      "properties that are no object"                            },
    {"{\"properties\":{\"a\":1}}",                               "a property without schema"                                },
    {"{\"required\":\"a\"}",                                     "required as a string"                                     },
    {"{\"required\":[1]}",                                       "required with a number"                                   },
    {"{\"additionalProperties\":\"no\"}",                        "additionalProperties as a string"                         },
    {"{\"items\":[{}]}",                                         "items as an array"                                        },
    {"{\"minItems\":-1}",                                        "a negative count"                                         },
    {"{\"maxItems\":1.5}",                                       "half an item"                                             },
    {"{\"maxLength\":\"9\"}",                                    "a length as a string"                                     },
    {"{\"uniqueItems\":1}",                                      "uniqueItems 1"                                            },
    {"{\"minimum\":\"1\"}",                                      "a minimum as a string"                                    },
    {"{\"enum\":[]}",                                            "an empty enum"                                            },
    {"{\"enum\":\"a\"}",                                         "enum as a string"                                         },
    {"{\"anyOf\":[]}",                                           "anyOf without branch"                                     },
    {"{\"anyOf\":[{\"x\":1}]}",                                  "an unknown keyword in a branch"                           },
    {"{\"format\":\"email\"}",                                   "an unknown format"                                        },
    {"{\"format\":1}",                                           "a format as a number"                                     },
    {"{\"pattern\":\"(\"}",                                      "a pattern that does not compile"                          },
    {"{\"pattern\":\"^\\\\d+$\"}",                               "a pattern with a backslash, which POSIX reads differently"},
    {"{\"pattern\":\"^(?:a)$\"}",                                "a pattern with (?:"                                       },
    {"{\"pattern\":\"a+?\"}",                                    "a lazy pattern"                                           },
    {"{\"pattern\":\"\"}",                                       "an empty pattern"                                         },
    {"{\"pattern\":\"[\xc3\xa9]\"}",                             "a pattern beyond ASCII"                                   },
};

static void
test_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        is_str(failing(mem, parse(mem, cases[i].schema), parse(mem, cases[i].value)),
               cases[i].paths, "%s", cases[i].name);
        talloc_free(mem);
    }
}

static void
test_zones(void)
{
    for (size_t i = 0; i < sizeof(not_zones) / sizeof(not_zones[0]); i++) {
        bool taken = schema_format_find("timezone")->matches(not_zones[i].text);
        ok(schema_format_knows_zones() ? !taken : taken, "format timezone: %s is %s",
           not_zones[i].name,
           schema_format_knows_zones() ? "refused" : "taken, for this host has no tz database");
    }
}

static void
test_unsound(void)
{
    for (size_t i = 0; i < sizeof(unsound) / sizeof(unsound[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        is_str(failing(mem, parse(mem, unsound[i].schema), parse(mem, "{}")), "unsound",
               "a schema is refused: %s", unsound[i].name);
        talloc_free(mem);
    }
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *noted = "{\"$schema\":\"x\",\"title\":1,\"description\":2,\"default\":{},"
                        "\"examples\":[],\"x-control\":\"y\"}";
    is_str(failing(mem, parse(mem, noted), parse(mem, "[]")), "", "annotations are ignored");
    is_str(schema_fault(mem, parse(mem, "{\"properties\":{\"a\":{\"anyOf\":[{},{\"q\":1}]}}}")),
           "#/properties/a/anyOf/1/q: unknown keyword", "the fault of a schema names its place");
    is_str(schema_fault(mem, parse(mem, "{\"items\":{\"$ref\":\"#/$defs/a\"},"
                                        "\"$defs\":{\"a\":{\"items\":{\"q\":1}}}}")),
           "#/$defs/a/items/q: unknown keyword", "... behind a reference, in the definition");
    is_str(schema_fault(mem, parse(mem, "{\"items\":{\"$ref\":\"#/$defs/a\"}}")),
           "#/items/$ref: refers to no definition", "... and of a reference");
    talloc_free(mem);
}

static size_t
count_failures(TALLOC_CTX *mem, const char *schema, const json_t *value)
{
    json_t *failures = NULL;
    schema_validate(mem, parse(mem, schema), value, &failures);
    return json_array_size(failures);
}

static json_t *
zeros(TALLOC_CTX *mem, size_t count)
{
    json_t *list = jsonx_own(mem, json_array());
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(0));
    return list;
}

/* Return a schema with `count` definitions; each but the first refers `width` times to the one
 * before. */
static json_t *
ladder(TALLOC_CTX *mem, int count, int width)
{
    json_t *defs = json_pack("{s:{}}", "d0");
    for (int i = 1; i < count; i++) {
        json_t *branches = json_array();
        for (int j = 0; j < width; j++)
            json_array_append_new(branches,
                                  json_pack("{s:o}", "$ref", json_sprintf("#/$defs/d%d", i - 1)));
        json_object_set_new(defs, talloc_asprintf(mem, "d%d", i),
                            json_pack("{s:o}", "anyOf", branches));
    }
    return jsonx_own(mem, json_pack("{s:o}", "$defs", defs));
}

static void
test_definition_limits(TALLOC_CTX *mem)
{
    /* A definition lies at depth 1; each rung adds a branch and the definition it refers to. */
    ok(schema_fault(mem, ladder(mem, 32, 1)) == NULL, "references may nest %d deep",
       SCHEMA_DEPTH_MAX);
    ok(schema_fault(mem, ladder(mem, 33, 1)) != NULL, "one rung more is refused");
    ok(schema_fault(mem, ladder(mem, 8, 2)) == NULL, "definitions may use one another twice");
    const char *why = schema_fault(mem, ladder(mem, 30, 2));
    ok(why != NULL && strstr(why, "too many schemas") != NULL,
       "a schema that references grow past %d schemas is refused", SCHEMA_SIZE_MAX);
}

static void
test_limits(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *schema = "{\"items\":{\"minimum\":1}}";
    is_int((int64_t) count_failures(mem, schema, zeros(mem, SCHEMA_FAILURES_MAX)),
           SCHEMA_FAILURES_MAX, "%d failures are all told", SCHEMA_FAILURES_MAX);
    is_int((int64_t) count_failures(mem, schema, zeros(mem, SCHEMA_FAILURES_MAX + 1)),
           SCHEMA_FAILURES_MAX, "of one more, %d are told", SCHEMA_FAILURES_MAX);
    is_int((int64_t) count_failures(mem, "{\"anyOf\":[{\"items\":false}]}", zeros(mem, 1000)),
           SCHEMA_FAILURES_MAX, "so are those of a branch");
    is_int((int64_t) count_failures(mem, "{\"uniqueItems\":true}", zeros(mem, 100000)),
           SCHEMA_FAILURES_MAX, "100,000 repetitions are found by sorting");

    /* "/" and 1023 characters are a pointer of SCHEMA_PATH_MAX octets. */
    for (size_t length = SCHEMA_PATH_MAX - 1; length <= SCHEMA_PATH_MAX; length++) {
        char name[SCHEMA_PATH_MAX + 1];
        memset(name, 'n', length);
        name[length] = '\0';
        json_t *value = jsonx_own(mem, json_pack("{s:{s:i}}", "a", name, 1));
        const char *paths = failing(
            mem, parse(mem, "{\"additionalProperties\":{\"additionalProperties\":false}}"), value);
        is_str(paths, "/a", "a path longer than %d octets ends at an ancestor", SCHEMA_PATH_MAX);
        value = jsonx_own(mem, json_pack("{s:i}", name, 1));
        paths = failing(mem, parse(mem, "{\"additionalProperties\":false}"), value);
        is_int((int64_t) strlen(paths), length < SCHEMA_PATH_MAX ? SCHEMA_PATH_MAX : 1,
               "a path of %zu octets is told %s", length + 1,
               length < SCHEMA_PATH_MAX ? "whole" : "as its ancestor");
    }
    test_definition_limits(mem);
    json_t *nested = parse(mem, "true");
    for (size_t i = 0; i <= SCHEMA_DEPTH_MAX; i++)
        nested = jsonx_own(mem, json_pack("{s:O}", "items", nested));
    ok(schema_fault(mem, nested) == NULL, "a schema may have %d above it", SCHEMA_DEPTH_MAX);
    nested = jsonx_own(mem, json_pack("{s:O}", "items", nested));
    ok(schema_fault(mem, nested) != NULL, "one deeper is refused");
    talloc_free(mem);
}

/* Read <srcdir>/etc/policy/<folder>/<name>; NULL if there is none. */
static json_t *
load(TALLOC_CTX *mem, const char *folder, const char *name)
{
    const char *srcdir = getenv("srcdir");
    char *path = talloc_asprintf(mem, "%s/etc/policy/%s/%s", srcdir ? srcdir : ".", folder, name);
    json_t *value = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    return value != NULL ? jsonx_own(mem, value) : NULL;
}

/* Every shipped schema is sound, accepts the shipped row, and is closed at its top. */
static void
test_shipped(void)
{
    const char *srcdir = getenv("srcdir");
    char folder[4096];
    struct dirent **entries;
    snprintf(folder, sizeof(folder), "%s/etc/policy/schemas", srcdir ? srcdir : ".");
    int count = scandir(folder, &entries, NULL, alphasort), seen = 0;
    for (int i = 0; i < count; i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        const char *name = entries[i]->d_name;
        if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".json") == 0) {
            json_t *schema = load(mem, "schemas", name), *row = load(mem, "data", name);
            const char *fault = schema != NULL ? schema_fault(mem, schema) : "no JSON";
            ok(fault == NULL, "shipped schema %s is sound%s%s", name, fault ? ": " : "",
               fault ? fault : "");
            ok(row != NULL, "... and has a shipped row");
            is_str(failing(mem, schema, row), "", "... which it takes");
            json_object_set_new(row, "no_such_setting", json_true());
            is_str(failing(mem, schema, row), "/no_such_setting",
                   "... and refuses one with an unknown keyword");
            seen++;
        }
        free(entries[i]);
        talloc_free(mem);
    }
    if (count >= 0)
        free(entries);
    ok(seen >= 11, "the schemas of all controls with a row are there (policy.md 6.4)");
}

int
main(void)
{
    test_cases();
    test_zones();
    test_unsound();
    test_limits();
    test_shipped();
    return done();
}
